/** Finds in one pass over a sound file what it is, and where its sound lies. */
import { FILE_HEAD_BYTES, typeByExtension, typeByMark, type FileType } from '../base/fileTypes';
import { scanMp3 } from './mp3';
import { beginsWithFrames } from './mpeg';
import { noSound, type Scan, type SoundFacts, FileWindow } from './sound';
import { scanWav } from './wav';

/** Returns the type that a file's first bytes show, if they show any. */
export const typeOfBytes = (head: Buffer): FileType | undefined =>
	typeByMark(head) ?? (beginsWithFrames(head) ? typeByExtension('mp3') : undefined);

function* scanSound(file: FileWindow): Scan {
	const head = yield* file.read(0, FILE_HEAD_BYTES);
	if (head.length === 0) return noSound('is empty');
	const type = typeOfBytes(head);
	if (type?.extension === 'wav') return yield* scanWav(file);
	if (type?.extension === 'mp3') return yield* scanMp3(file);
	const what = type === undefined ? 'no sound of a known kind' : type.mimeType;
	return noSound(`is ${what}; only MP3 and WAV can be joined`);
}

export class SoundScanner {
	private readonly file = new FileWindow();
	private readonly work = scanSound(this.file);
	private step = this.work.next();

	push(chunk: Buffer): void {
		if (this.step.done === true) return;
		this.file.push(chunk);
		this.step = this.work.next();
	}

	/** Ends the pass after the last chunk. Another call returns the same. */
	end(): SoundFacts {
		this.file.isComplete = true;
		while (this.step.done !== true) this.step = this.work.next();
		return this.step.value;
	}
}

export async function soundFactsOf(
	chunks: AsyncIterable<Buffer> | Iterable<Buffer>,
): Promise<SoundFacts> {
	const scanner = new SoundScanner();
	for await (const chunk of chunks) scanner.push(chunk);
	return scanner.end();
}
