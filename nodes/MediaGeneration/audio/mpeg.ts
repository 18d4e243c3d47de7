/** Distinguishes frames of MPEG audio, Layer III, from other bytes. Sources: ISO/IEC 11172-3 and 13818-3. */

type MpegVersion = '1' | '2' | '2.5';

export interface FrameHeader {
	version: MpegVersion;
	/** Samples per second. */
	sampleRate: number;
	/** The four bytes of the header as a number. */
	bits: number;
	channels: 1 | 2;
	samplesPerFrame: number;
	bitrateIndex: number;
	/** Counts bytes, and includes the header. */
	length: number;
}

type Coding = Pick<FrameHeader, 'version' | 'sampleRate'>;

const VERSIONS: ReadonlyArray<MpegVersion | undefined> = ['2.5', undefined, '2', '1'];
const SAMPLE_RATES: Record<MpegVersion, readonly number[]> = {
	'1': [44_100, 48_000, 32_000],
	'2': [22_050, 24_000, 16_000],
	'2.5': [11_025, 12_000, 8_000],
};
/** Bit rates in kbit/s by their index, in version 1 and in the others. 0 would be "free format", which no encoder uses; 15 is not allowed. */
const BIT_RATES_1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const BIT_RATES_2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];

/** The bytes of a frame without padding. */
export function frameLength({ version, sampleRate }: Coding, bitrateIndex: number): number {
	const rates = version === '1' ? BIT_RATES_1 : BIT_RATES_2;
	const bytes = (samplesOf(version) / 8) * 1000 * (rates[bitrateIndex] ?? 0);
	return Math.floor(bytes / sampleRate);
}

const samplesOf = (version: MpegVersion) => (version === '1' ? 1152 : 576);

export const HEADER_BYTES = 4;

/** Returns undefined if no frame begins there. */
export function readFrame(bytes: Buffer, at = 0): FrameHeader | undefined {
	return bytes.length < at + HEADER_BYTES ? undefined : frameOf(bytes.readUInt32BE(at));
}

export function frameOf(bits: number): FrameHeader | undefined {
	const version = VERSIONS[(bits >>> 19) & 3];
	const bitrateIndex = (bits >>> 12) & 15;
	const isLayer3 = ((bits >>> 17) & 3) === 1;
	if (bits >>> 21 !== 0x7ff || !isLayer3 || version === undefined) return undefined;
	const sampleRate = SAMPLE_RATES[version][(bits >>> 10) & 3];
	if (sampleRate === undefined || bitrateIndex === 0 || bitrateIndex === 15) return undefined;
	return {
		version,
		sampleRate,
		bits,
		channels: ((bits >>> 6) & 3) === 3 ? 1 : 2,
		samplesPerFrame: samplesOf(version),
		bitrateIndex,
		length: frameLength({ version, sampleRate }, bitrateIndex) + ((bits >>> 9) & 1),
	};
}

/** Sync, version, layer, sample rate and channels are the same in all frames of a sound. */
export const isOneFormat = (one: FrameHeader, other: FrameHeader): boolean =>
	((one.bits ^ other.bits) & 0xfffe_0c00) === 0 && one.channels === other.channels;

/** Other bytes can have the eleven bits that begin a frame: the next frame, where this one ends, shows that it is one. */
export function beginsWithFrames(head: Buffer): boolean {
	const first = readFrame(head);
	const next = first && readFrame(head, first.length);
	return first !== undefined && next !== undefined && isOneFormat(first, next);
}
