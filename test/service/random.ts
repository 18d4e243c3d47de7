export type Random = () => number;

/** Mulberry32: the same seed gives the same numbers in [0, 1), so a fault run can be replayed. */
export function seededRandom(seed: number): Random {
	let state = seed >>> 0;
	return () => {
		state = (state + 0x6d2b79f5) >>> 0;
		let mixed = Math.imul(state ^ (state >>> 15), state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	};
}

/** A small stable number for a text: pitches and colours follow from it. */
export function hash(text: string): number {
	let value = 2166136261;
	for (let index = 0; index < text.length; index++) {
		value = Math.imul(value ^ text.charCodeAt(index), 16777619);
	}
	return value >>> 0;
}
