/** The reader for a sound file, by its first bytes. Pure. */
import { typeOfBytes } from './kinds';
import { Mp3Scanner } from './mp3Scanner';
import { noSound, type Scanner, type SoundFacts } from './sound';
import { WavScanner } from './wavScanner';

const HEAD_BYTES = 12;

const refusal = (problem: string): Scanner => ({
	push: () => undefined,
	end: () => noSound(problem),
});

function scannerFor(head: Buffer): Scanner {
	if (head.length === 0) return refusal('it is empty');
	const text = head.toString('latin1', 0, HEAD_BYTES);
	if (/^(RF64|BW64)/.test(text)) return refusal('it is a WAV file for more than 4 GB (RF64)');
	const type = typeOfBytes(head)?.type;
	if (type?.extension === 'wav') return new WavScanner();
	// Some MP3 files begin with zeros, as padding.
	if (type?.extension === 'mp3' || /^(APETAGEX|TAG|\0+$)/.test(text)) return new Mp3Scanner();
	const what = type === undefined ? 'it is not' : `it is ${type.mimeType}, not`;
	return refusal(`${what} an MP3 or WAV file`);
}

/** Reads sound of any kind: which one it is shows with its first bytes. */
export class SoundScanner implements Scanner {
	private head = Buffer.alloc(0);
	private scanner: Scanner | undefined;
	private facts: SoundFacts | undefined;

	push(chunk: Buffer): void {
		if (this.scanner !== undefined) return this.scanner.push(chunk);
		this.head = Buffer.concat([this.head, chunk]);
		if (this.head.length >= HEAD_BYTES) this.begin();
	}

	/** To be called after the last chunk, as often as needed. */
	end(): SoundFacts {
		return (this.facts ??= (this.scanner ?? this.begin()).end());
	}

	private begin(): Scanner {
		const scanner = scannerFor(this.head);
		scanner.push(this.head);
		this.head = Buffer.alloc(0);
		return (this.scanner = scanner);
	}
}

/** Reads a sound file once. What its stream throws is thrown on. */
export async function scan(chunks: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<SoundFacts> {
	const scanner = new SoundScanner();
	for await (const chunk of chunks) scanner.push(chunk);
	return scanner.end();
}
