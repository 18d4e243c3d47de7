/** What kind of sound a file is, and the reader for it. Pure. */
import { Mp3Scanner } from './mp3Scanner';
import { noSound, type Scanner, type SoundFacts } from './sound';
import { WavScanner } from './wavScanner';

/** How many bytes tell the kinds apart. */
const HEAD_BYTES = 12;

const OTHER_KINDS: ReadonlyArray<[name: string, mark: RegExp]> = [
	['an Ogg file', /^OggS/],
	['a FLAC file', /^fLaC/],
	['an MP4 or M4A file', /^.{4}ftyp/s],
	['a WebM file', /^\x1aE\xdf\xa3/],
	['an AIFF file', /^FORM.{4}AIF/s],
	['an AAC file', /^\xff[\xf0\xf1\xf8\xf9]/],
];

/** The reader for a file that begins with these bytes, or what else it is. */
function scannerFor(head: Buffer): Scanner | { problem: string } {
	const text = head.toString('latin1', 0, HEAD_BYTES);
	if (/^(RIFF|RF64|BW64).{4}WAVE/s.test(text)) return new WavScanner();
	const other = OTHER_KINDS.find(([, mark]) => mark.test(text));
	if (other !== undefined) return { problem: `it is ${other[0]}, not an MP3 or WAV file` };
	// Some MP3 files begin with zeros, as padding.
	if (/^(ID3|APETAGEX|TAG|\xff[\xe0-\xff]|\0+$)/.test(text)) return new Mp3Scanner();
	return { problem: 'it is not an MP3 or WAV file' };
}

/** Reads sound of any kind: which one it is shows with its first bytes. */
export class SoundScanner implements Scanner {
	private head = Buffer.alloc(0);
	private scanner: Scanner | { problem: string } | undefined;

	push(chunk: Uint8Array): void {
		if (this.scanner !== undefined) {
			if ('push' in this.scanner) this.scanner.push(chunk);
			return;
		}
		this.head = Buffer.concat([this.head, chunk]);
		if (this.head.length >= HEAD_BYTES) this.begin();
	}

	end(): SoundFacts {
		const scanner = this.scanner ?? this.begin();
		return 'push' in scanner ? scanner.end() : noSound(scanner.problem);
	}

	seconds(): number | undefined {
		return this.scanner !== undefined && 'push' in this.scanner
			? this.scanner.seconds()
			: undefined;
	}

	private begin(): Scanner | { problem: string } {
		const scanner = this.head.length === 0 ? { problem: 'it is empty' } : scannerFor(this.head);
		this.scanner = scanner;
		if ('push' in scanner) scanner.push(this.head);
		this.head = Buffer.alloc(0);
		return scanner;
	}
}

/**
 * Reads a sound file once, chunk by chunk, and says what joining needs to know of it. For a file that can't be joined,
 * `problem` says why; what the stream itself throws is thrown on.
 */
export async function scan(
	chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<SoundFacts> {
	const scanner = new SoundScanner();
	for await (const chunk of chunks) scanner.push(chunk);
	return scanner.end();
}
