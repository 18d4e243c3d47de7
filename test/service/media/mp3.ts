import { createMp3Encoder, type WasmMediaEncoder } from 'wasm-media-encoders';
import type { SampleRate } from '../types';
import { id3v1, id3v2 } from './id3';
import { toneSamples } from './tone';

export const BITRATES = [32, 64, 128, 192] as const;
export const SAMPLE_RATES = [22050, 24000, 44100, 48000] as const;

export interface Mp3Options {
	/** Hz; MPEG-1 from 32,000 on, MPEG-2 from 16,000 on, else MPEG-2.5. */
	sampleRate?: SampleRate | undefined;
	/** kbit/s where the bit rate is constant. */
	bitrate?: (typeof BITRATES)[number] | undefined;
	variable?: boolean;
	/** Of a tone: 2 have the same samples. */
	channels?: 1 | 2;
	/** Whether an "Info" or "Xing" frame states the length, as with any encoder that can go back to the file's beginning. */
	header?: boolean;
	/** ID3v2 before and ID3v1 after the sound, with this title. */
	title?: string;
}

/** kbit/s by index, of MPEG-1 and of the others. */
const FRAME_BITRATES = {
	1: [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
	2: [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
};

let loaded: Promise<WasmMediaEncoder<'audio/mpeg'>> | undefined;
let encoder: WasmMediaEncoder<'audio/mpeg'> | undefined;

/** To be called before anything is encoded; the encoder is loaded once. */
export async function loadMp3Encoder(): Promise<void> {
	loaded ??= createMp3Encoder();
	encoder = await loaded;
}

/** LAME's frames for one channel or two of samples between -1 and 1. */
function frames(channels: Float32Array[], options: Mp3Options): Buffer {
	if (encoder === undefined) throw new Error('loadMp3Encoder() comes first');
	const { sampleRate = 44_100, bitrate = 128, variable = false } = options;
	const common = {
		channels: channels.length === 2 ? (2 as const) : (1 as const),
		sampleRate,
		outputSampleRate: sampleRate,
	};
	encoder.configure(variable ? { ...common, vbrQuality: 4 } : { ...common, bitrate });
	// What it hands out is overwritten by the next call.
	return Buffer.concat([Buffer.from(encoder.encode(channels)), Buffer.from(encoder.finalize())]);
}

function frameLength(head: number, sampleRate: number): number {
	const isFirst = ((head >>> 19) & 3) === 3;
	const kbps = FRAME_BITRATES[isFirst ? 1 : 2][(head >>> 12) & 15] ?? 0;
	return Math.floor(((isFirst ? 144_000 : 72_000) * kbps) / sampleRate) + ((head >>> 9) & 1);
}

/** The frame before the sound that players read its length from, as LAME puts it there: number of frames and bytes. */
function headerFrame(sound: Buffer, { sampleRate = 44_100, variable = false }: Mp3Options): Buffer {
	let count = 0;
	for (let at = 0; at < sound.length; count += 1)
		at += frameLength(sound.readUInt32BE(at), sampleRate);
	// The first frame's header, with another bit rate (index 9) and without padding.
	const head = ((sound.readUInt32BE(0) & 0xffff_0dff) | 0x9000) >>> 0;
	const frame = Buffer.alloc(frameLength(head, sampleRate));
	frame.writeUInt32BE(head);
	const isMono = ((head >>> 6) & 3) === 3;
	const isFirst = ((head >>> 19) & 3) === 3;
	const at = 4 + (isFirst ? (isMono ? 17 : 32) : isMono ? 9 : 17);
	frame.write(variable ? 'Xing' : 'Info', at);
	[3, count, frame.length + sound.length].forEach((value, index) =>
		frame.writeUInt32BE(value, at + 4 + index * 4),
	);
	return frame;
}

/** A playable MP3 of samples between -1 and 1, one array for each channel. */
export function encodeMp3(channels: Float32Array[], options: Mp3Options = {}): Buffer {
	const sound = frames(channels, options);
	const whole = options.header === false ? [sound] : [headerFrame(sound, options), sound];
	const { title } = options;
	return Buffer.concat(title === undefined ? whole : [id3v2(title), ...whole, id3v1(title)]);
}

/** A playable MP3 of the tone that stands for a text. */
export function toneMp3(text: string, options: Mp3Options = {}): Buffer {
	const samples = toneSamples(text, options.sampleRate ?? 44_100);
	const channel = Float32Array.from(samples, (sample) => sample / 32_768);
	return encodeMp3(options.channels === 2 ? [channel, channel] : [channel], options);
}
