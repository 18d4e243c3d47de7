/** How long sound is, and what joining needs to know of it, measured while it passes through. Pure. */
import { SoundScanner } from './scan';
import type { SoundFacts } from './sound';

export interface DurationMeter {
	/** To be called with each chunk of the file in order, however large. */
	push(chunk: Uint8Array): void;
	/**
	 * To be called after the last chunk: seconds, counted from MP3 frames (where some are broken: as many as its header
	 * states) or WAV samples; undefined for anything else.
	 */
	seconds(): number | undefined;
	/** To be called after the last chunk: what `scan` would find. */
	facts(): SoundFacts;
}

export function durationMeter(): DurationMeter {
	const scanner = new SoundScanner();
	let found: SoundFacts | undefined;
	const facts = () => (found ??= scanner.end());
	return {
		push: (chunk) => scanner.push(chunk),
		seconds: () => {
			facts();
			return scanner.seconds();
		},
		facts,
	};
}
