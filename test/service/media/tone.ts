import { WaveFile } from 'wavefile';
import { hash } from '../random';

const SAMPLE_RATE = 16_000;
const LOUDNESS = 9000;

/** Length of the tone that stands for a text: longer texts last longer, 0.3 to 2.3 s up to 100 characters, then 0.5 s per 1,000. */
export function toneSeconds(text: string): number {
	return 0.3 + Math.min(text.length, 100) * 0.02 + Math.max(0, text.length - 100) * 0.0005;
}

/** Pitch of that tone: one of 80, 25 Hz apart, so that a text can be found in a file by its tone. */
export function toneHz(text: string): number {
	return 200 + 25 * (hash(text) % 80);
}

/** The tone of a text in one channel, 16 bit; it fades in and out over 10 ms. */
export function toneSamples(text: string, sampleRate: number): Int16Array {
	const count = Math.round(toneSeconds(text) * sampleRate);
	const fade = sampleRate / 100;
	const step = (2 * Math.PI * toneHz(text)) / sampleRate;
	return Int16Array.from({ length: count }, (_, index) => {
		const loudness = Math.min(1, index / fade, (count - index) / fade);
		return Math.round(LOUDNESS * loudness * Math.sin(step * index));
	});
}

/** A playable WAV (16 bit); two channels have the same samples. */
export function toneWav(
	text: string,
	{ sampleRate = SAMPLE_RATE, channels = 1 }: { sampleRate?: number; channels?: 1 | 2 } = {},
): Buffer {
	const wave = new WaveFile();
	const samples = toneSamples(text, sampleRate);
	wave.fromScratch(channels, sampleRate, '16', channels === 2 ? [samples, samples] : samples);
	return Buffer.from(wave.toBuffer());
}
