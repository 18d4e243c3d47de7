/** What MP3 files hold besides the sound: ID3 and APE tags. Pure. Sources: id3.org, APEv2 specification. */

const ID3V1_BYTES = 128;
const ID3V1_EXTENDED_BYTES = 227;
const ID3V2_HEADER_BYTES = 10;
const APE_HEADER_BYTES = 32;

/** How many bytes `tagLength` reads at most, and how many of a file's last bytes `tagBegin` needs. */
export const TAG_BYTES = APE_HEADER_BYTES;
export const TAIL_BYTES = APE_HEADER_BYTES + ID3V1_BYTES;

const isAt = (bytes: Buffer, at: number, mark: string) =>
	bytes.toString('latin1', at, at + mark.length) === mark;

/** How long the tag is that begins there, in bytes; undefined where none does. */
export function tagLength(bytes: Buffer, at: number): number | undefined {
	if (isAt(bytes, at, 'ID3')) {
		// Only seven bits of each byte count, so that no size looks like a frame.
		const size = [6, 7, 8, 9].reduce((sum, index) => sum * 128 + (bytes[at + index] ?? 0), 0);
		const hasFooter = ((bytes[at + 5] ?? 0) & 0x10) !== 0;
		return ID3V2_HEADER_BYTES + size + (hasFooter ? ID3V2_HEADER_BYTES : 0);
	}
	if (isAt(bytes, at, 'APETAGEX')) {
		const isHeader = (bytes.readUInt32LE(at + 20) & 0x2000_0000) !== 0;
		return APE_HEADER_BYTES + (isHeader ? bytes.readUInt32LE(at + 12) : 0);
	}
	if (isAt(bytes, at, 'TAG+')) return ID3V1_EXTENDED_BYTES;
	return isAt(bytes, at, 'TAG') ? ID3V1_BYTES : undefined;
}

/** Where the APE tag without a header begins that ends a file of `total` bytes, by the file's last bytes. */
export function tagBegin(tail: Buffer, total: number): number | undefined {
	const after = isAt(tail, tail.length - ID3V1_BYTES, 'TAG') ? ID3V1_BYTES : 0;
	const footer = tail.length - after - APE_HEADER_BYTES;
	return isAt(tail, footer, 'APETAGEX')
		? total - after - tail.readUInt32LE(footer + 12)
		: undefined;
}
