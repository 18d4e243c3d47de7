/**
 * MPEG audio without a tag begins with a sync word of eleven bits, which other bytes have too. Only together with the next frame, at
 * the offset where this one ends, is it a signature. Pure.
 */

/** kbit/s by version (1, or 2 and 2.5) and layer. */
const BIT_RATES: Record<string, number[]> = {
	'1-1': [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
	'1-2': [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
	'1-3': [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
	'2-1': [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
	'2-2': [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
	'2-3': [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
};
const SAMPLE_RATES = [44_100, 48_000, 32_000];

interface Frame {
	/** In bytes; undefined where the frame does not say. */
	length: number | undefined;
}

/** The MPEG audio frame that begins at an offset: sync word, a valid version, layer, bit rate and sample rate. */
export function mpegFrame(head: Buffer, at: number): Frame | undefined {
	if (head.length < at + 3 || head[at] !== 0xff) return undefined;
	const [second = 0, third = 0] = head.subarray(at + 1, at + 3);
	const version = (second >> 3) & 3;
	const layer = 4 - ((second >> 1) & 3);
	const rate = third >> 4;
	const sampleRate = SAMPLE_RATES[(third >> 2) & 3];
	if ((second & 0xe0) !== 0xe0 || version === 1 || layer === 4 || rate === 15) return undefined;
	if (sampleRate === undefined) return undefined;
	const isFirst = version === 3;
	const bitsPerSecond = (BIT_RATES[`${isFirst ? 1 : 2}-${layer}`]?.[rate] ?? 0) * 1000;
	if (bitsPerSecond === 0) return { length: undefined };
	const hertz = sampleRate / (isFirst ? 1 : version === 2 ? 2 : 4);
	const padding = (third >> 1) & 1;
	const length =
		layer === 1
			? (Math.floor((12 * bitsPerSecond) / hertz) + padding) * 4
			: Math.floor(((layer === 3 && !isFirst ? 72 : 144) * bitsPerSecond) / hertz) + padding;
	return { length };
}

/** The AAC frame (ADTS) that begins at an offset. */
export function aacFrame(head: Buffer, at: number): Frame | undefined {
	if (head[at] !== 0xff || ((head[at + 1] ?? 0) & 0xf6) !== 0xf0) return undefined;
	if (head.length < at + 6) return { length: undefined };
	return { length: (head.readUIntBE(at + 3, 3) >> 5) & 0x1fff };
}

/** Whether the bytes begin with a frame that another one follows (`certain`), or at least with one. */
export function framed(
	head: Buffer,
	frame: (head: Buffer, at: number) => Frame | undefined,
): 'certain' | 'perhaps' | 'no' {
	const first = frame(head, 0);
	if (first === undefined) return 'no';
	const { length } = first;
	return length !== undefined && length > 6 && frame(head, length) !== undefined
		? 'certain'
		: 'perhaps';
}
