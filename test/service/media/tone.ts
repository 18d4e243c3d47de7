import { WaveFile } from 'wavefile';
import { hash } from '../random';

const SAMPLE_RATE = 16_000;

/** Length of the tone that stands for a text: longer texts last longer, 0.3 to 2.3 s. */
export function toneSeconds(text: string): number {
	return 0.3 + Math.min(text.length, 100) * 0.02;
}

/** A playable WAV (16 bit, mono) whose pitch depends on the text. */
export function toneWav(text: string): Buffer {
	const pitchHz = 220 + (hash(text) % 660);
	const count = Math.round(toneSeconds(text) * SAMPLE_RATE);
	const fade = SAMPLE_RATE / 100;
	const samples = new Int16Array(count);
	for (let index = 0; index < count; index++) {
		const loudness = Math.min(1, index / fade, (count - index) / fade);
		samples[index] = Math.round(
			9000 * loudness * Math.sin((2 * Math.PI * pitchHz * index) / SAMPLE_RATE),
		);
	}
	const wave = new WaveFile();
	wave.fromScratch(1, SAMPLE_RATE, '16', samples);
	return Buffer.from(wave.toBuffer());
}

/** A playable MP3 of silence: MPEG-1 Layer III frames (128 kbit/s, 44.1 kHz) with empty side information. */
export function silentMp3(text: string): Buffer {
	const frame = Buffer.alloc(417);
	frame.writeUInt32BE(0xfffb9064);
	const frames = Math.ceil((toneSeconds(text) * 44_100) / 1152);
	return Buffer.concat(Array.from({ length: frames }, () => frame));
}
