/** Ears for the tests: an MP3 decoder that shares nothing with the code under test, and what is heard when. */
import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { MPEGDecodedAudio } from 'mpg123-decoder';

export interface Heard {
	/** The first channel, between -1 and 1. */
	samples: Float32Array;
	channels: number;
	sampleRate: number;
	/** What the decoder complains of. */
	errors: string[];
}

/** One for all files that a test file decodes: it takes far longer to start than to decode one. */
let decoder: Worker | undefined;
afterAll(async () => await decoder?.terminate());

/** To be called for one file at a time. */
export async function decodeMp3(mp3: Buffer): Promise<Heard> {
	decoder ??= new Worker(join(__dirname, 'decoder.mjs'));
	decoder.postMessage(new Uint8Array(mp3));
	const [audio] = (await once(decoder, 'message')) as [MPEGDecodedAudio];
	const { channelData, sampleRate, errors } = audio;
	const [samples = new Float32Array()] = channelData;
	const words = errors.map(({ message }) => message);
	return { samples, channels: channelData.length, sampleRate, errors: words };
}

/** How much of one pitch is in some samples (Goertzel). */
function strength(samples: Float32Array, hz: number, sampleRate: number): number {
	const factor = 2 * Math.cos((2 * Math.PI * hz) / sampleRate);
	let [last, before] = [0, 0];
	for (const sample of samples) [last, before] = [sample + factor * last - before, last];
	return last ** 2 + before ** 2 - factor * last * before;
}

/** The tone of a fifth of a second from `seconds` on, in Hz (see `toneHz` of the stand-in); undefined for silence. */
export function toneAt({ samples, sampleRate }: Heard, seconds: number): number | undefined {
	const from = Math.round(seconds * sampleRate);
	const window = samples.subarray(from, from + Math.round(sampleRate / 5));
	const loudest = window.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
	if (loudest < 0.01) return undefined;
	const pitches = Array.from({ length: 80 }, (_, index) => 200 + 25 * index);
	const strengths = pitches.map((hz) => strength(window, hz, sampleRate));
	return pitches[strengths.indexOf(Math.max(...strengths))];
}
