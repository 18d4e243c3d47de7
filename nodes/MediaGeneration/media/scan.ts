/** What kind of sound a file is, and the reader for it. Pure. */
import { typeOfBytes } from './kinds';
import { Mp3Scanner } from './mp3Scanner';
import { noSound, type Scanner, type SoundFacts } from './sound';
import { WavScanner } from './wavScanner';

/** How many bytes tell the kinds apart. */
const HEAD_BYTES = 12;

/** The reader for a file that begins with these bytes, or what else it is. */
function scannerFor(head: Buffer): Scanner | { problem: string } {
	const text = head.toString('latin1', 0, HEAD_BYTES);
	if (/^(RF64|BW64)/.test(text)) return { problem: 'it is a WAV file for more than 4 GB (RF64)' };
	const type = typeOfBytes(head)?.type;
	if (type?.extension === 'wav') return new WavScanner();
	// Some MP3 files begin with zeros, as padding.
	if (type?.extension === 'mp3' || /^(APETAGEX|TAG|\0+$)/.test(text)) return new Mp3Scanner();
	const what = type === undefined ? 'it is not' : `it is ${type.mimeType}, not`;
	return { problem: `${what} an MP3 or WAV file` };
}

/** Reads sound of any kind: which one it is shows with its first bytes. */
export class SoundScanner implements Scanner {
	private head = Buffer.alloc(0);
	private scanner: Scanner | { problem: string } | undefined;
	private facts: SoundFacts | undefined;

	push(chunk: Uint8Array): void {
		if (this.scanner !== undefined) {
			if ('push' in this.scanner) this.scanner.push(chunk);
			return;
		}
		this.head = Buffer.concat([this.head, chunk]);
		if (this.head.length >= HEAD_BYTES) this.begin();
	}

	/** To be called after the last chunk, as often as needed. */
	end(): SoundFacts {
		const scanner = this.scanner ?? this.begin();
		return (this.facts ??= 'push' in scanner ? scanner.end() : noSound(scanner.problem));
	}

	/**
	 * To be called after the last chunk: seconds, counted from MP3 frames (where some are broken: as many as its header
	 * states) or WAV samples; undefined for anything else.
	 */
	seconds(): number | undefined {
		this.end();
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
