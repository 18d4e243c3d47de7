import { seededRandom } from '../service/random';

/** Random choices that a seed repeats. */
export class Choices {
	private readonly random: () => number;

	constructor(seed: number) {
		this.random = seededRandom(seed);
		// Neighbouring seeds begin with similar numbers.
		for (let count = 0; count < 8; count += 1) this.random();
	}

	chance(share: number): boolean {
		return this.random() < share;
	}

	/** A whole number; both ends are possible. */
	between(least: number, most: number): number {
		return least + Math.floor(this.random() * (most - least + 1));
	}

	pick<T>(choices: readonly [T, ...T[]]): T {
		return choices[this.between(0, choices.length - 1)] ?? choices[0];
	}

	/** One of the choices, each as often as its weight says. */
	weighted<T>(choices: ReadonlyArray<readonly [weight: number, choice: T]>): T {
		let left = this.random() * choices.reduce((sum, [weight]) => sum + weight, 0);
		for (const [weight, choice] of choices) if ((left -= weight) < 0) return choice;
		throw new Error('Nothing to choose from');
	}
}
