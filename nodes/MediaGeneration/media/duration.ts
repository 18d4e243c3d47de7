/** How long sound is, measured while it passes through. Pure. */
import { SoundScanner } from './scan';

export interface DurationMeter {
	/** To be called with each chunk of the file in order, however large. */
	push(chunk: Uint8Array): void;
	/**
	 * To be called after the last chunk: seconds, counted from MP3 frames (where some are broken: as many as its header
	 * states) or WAV samples; undefined for anything else.
	 */
	seconds(): number | undefined;
}

export function durationMeter(): DurationMeter {
	const scanner = new SoundScanner();
	let isOver = false;
	return {
		push: (chunk) => scanner.push(chunk),
		seconds: () => {
			if (!isOver) scanner.end();
			isOver = true;
			return scanner.seconds();
		},
	};
}
