/** Tells frames of MPEG audio from other bytes. Sources: ISO/IEC 11172-3 and 13818-3 (Layer III), 13818-7 (AAC). */

type MpegVersion = '1' | '2' | '2.5';

export interface FrameHeader {
	version: MpegVersion;
	layer: number;
	/** Samples per second. */
	sampleRate: number;
	/** The four bytes of the header as a number. */
	bits: number;
	channels: 1 | 2;
	samplesPerFrame: number;
	/** 0 means "free format". */
	bitrateIndex: number;
	/** In bytes, the header included; 0 in free format, and for other layers than III. */
	length: number;
}

type Coding = Pick<FrameHeader, 'version' | 'sampleRate'>;

const VERSIONS: ReadonlyArray<MpegVersion | undefined> = ['2.5', undefined, '2', '1'];
const SAMPLE_RATES: Record<MpegVersion, readonly number[]> = {
	'1': [44_100, 48_000, 32_000],
	'2': [22_050, 24_000, 16_000],
	'2.5': [11_025, 12_000, 8_000],
};
/** Layer III bit rates in kbit/s by their index, in version 1 and in the others; 15 is not allowed. */
const BIT_RATES_1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const BIT_RATES_2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];

/** The bytes of a frame of Layer III without padding; 0 if there is no such bit rate. */
export function frameLength({ version, sampleRate }: Coding, bitrateIndex: number): number {
	const rates = version === '1' ? BIT_RATES_1 : BIT_RATES_2;
	const bytes = (samplesOf(version) / 8) * 1000 * (rates[bitrateIndex] ?? 0);
	return Math.floor(bytes / sampleRate);
}

const samplesOf = (version: MpegVersion) => (version === '1' ? 1152 : 576);

export function readFrame(bits: number): FrameHeader | undefined {
	const version = VERSIONS[(bits >>> 19) & 3];
	const layer = 4 - ((bits >>> 17) & 3);
	const bitrateIndex = (bits >>> 12) & 15;
	if (bits >>> 21 !== 0x7ff || version === undefined || bitrateIndex === 15) return undefined;
	const sampleRate = SAMPLE_RATES[version][(bits >>> 10) & 3];
	if (sampleRate === undefined || layer === 4) return undefined;
	const coding: Coding = { version, sampleRate };
	const unpadded = layer === 3 ? frameLength(coding, bitrateIndex) : 0;
	return {
		...coding,
		layer,
		bits,
		channels: ((bits >>> 6) & 3) === 3 ? 1 : 2,
		samplesPerFrame: samplesOf(version),
		bitrateIndex,
		length: unpadded === 0 ? 0 : unpadded + ((bits >>> 9) & 1),
	};
}

/** Returns the length of the frame that begins there, 0 if it can't be known; undefined if none begins. */
type LengthAt = (head: Buffer, at: number) => number | undefined;

/** Three bytes of a header are enough. */
const mpegAt: LengthAt = (head, at) =>
	head.length < at + 3 ? undefined : readFrame(head.readUIntBE(at, 3) * 256)?.length;

const aacAt: LengthAt = (head, at) => {
	if (head[at] !== 0xff || ((head[at + 1] ?? 0) & 0xf6) !== 0xf0) return undefined;
	return head.length < at + 6 ? 0 : (head.readUIntBE(at + 3, 3) >> 5) & 0x1fff;
};

/** Other bytes can have the eleven or twelve bits that begin a frame: only with the next frame, where this one ends, is it `certain`. */
export function framesIn(head: Buffer): { coding: 'aac' | 'mpeg'; certain: boolean } | undefined {
	for (const [coding, lengthAt] of [['aac', aacAt] as const, ['mpeg', mpegAt] as const]) {
		const length = lengthAt(head, 0);
		if (length === undefined) continue;
		return { coding, certain: length > 6 && lengthAt(head, length) !== undefined };
	}
	return undefined;
}
