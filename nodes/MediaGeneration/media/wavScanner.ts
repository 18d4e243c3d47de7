/** Reads the chunks of a WAV file, in one pass. Pure. */
import { type ByteRange, noSound, type Scanner, type SoundFacts, Unread } from './sound';
import { readFormat, type WavFormat } from './wav';

const RIFF_HEADER_BYTES = 12;
const CHUNK_HEADER_BYTES = 8;
/** The size that a file states which was written as a stream. */
const UNKNOWN_SIZE = 0xffff_ffff;
/** How much of a format chunk is read; what follows is of no use here. */
const MOST_FORMAT_BYTES = 64;

export class WavScanner implements Scanner {
	private readonly unread = new Unread();
	/** Where the next chunk begins, or the padding byte before it. */
	private next = 0;
	private riffSize = 0;
	private format: WavFormat | undefined;
	private data: { from: number; size: number } | undefined;
	private problem: string | undefined;

	push(chunk: Buffer): void {
		this.unread.push(chunk);
		this.read();
		this.unread.dropTo(this.data === undefined ? this.next : this.unread.total);
	}

	end(): SoundFacts {
		const { format, data, problem } = this;
		if (problem !== undefined) return noSound(problem);
		if (data === undefined) return noSound('it is a WAV file without samples');
		if (format === undefined) return noSound('it is a WAV file that does not state its format');
		const there = Math.max(0, Math.min(data.size, this.unread.total - data.from));
		const samples = Math.floor(there / format.blockBytes);
		const bytes = samples * format.blockBytes;
		const seconds = samples / format.sampleRate;
		const ranges: ByteRange[] = [[data.from, data.from + bytes]];
		return { kind: 'wav', format, samples, bytes, ranges, seconds };
	}

	/** Reads the chunks that begin in the bytes that are there, up to the samples. */
	private read(): void {
		const { unread } = this;
		while (this.data === undefined) {
			// The first bytes are there: they told what kind of file it is.
			if (this.next === 0) this.riffSize = unread.bytes.readUInt32LE(4);
			const at = this.next - unread.position;
			const length = this.next === 0 ? RIFF_HEADER_BYTES : this.readChunk(unread.bytes, at);
			if (length === undefined) return;
			this.next += length;
		}
	}

	/** How many bytes were read; undefined where more must come first. */
	private readChunk(bytes: Buffer, at: number): number | undefined {
		if (bytes.length < at + CHUNK_HEADER_BYTES) return undefined;
		// A zero makes an odd size even, but not every program writes it; no name begins with a zero.
		if (bytes[at] === 0) return 1;
		const id = bytes.toString('latin1', at, at + 4);
		const size = bytes.readUInt32LE(at + 4);
		const content = at + CHUNK_HEADER_BYTES;
		const least = id === 'fmt ' ? Math.min(size, MOST_FORMAT_BYTES) : 0;
		if (bytes.length < content + least) return undefined;
		if (id === 'fmt ') {
			const format = readFormat(bytes.subarray(content, content + least));
			if ('problem' in format) this.problem = format.problem;
			else this.format = format;
		}
		if (id === 'data') {
			const from = this.next + CHUNK_HEADER_BYTES;
			this.data = { from, size: this.dataSize(from, size) };
		}
		return CHUNK_HEADER_BYTES + size;
	}

	/** A file that was written as a stream does not state its size: its samples go on to its end. */
	private dataSize(from: number, size: number): number {
		if (size === UNKNOWN_SIZE) return Infinity;
		const isStream = size === 0 && (this.riffSize + 8 <= from || this.riffSize === UNKNOWN_SIZE);
		return isStream ? Infinity : size;
	}
}
