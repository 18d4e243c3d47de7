/** A binary heap: what comes before all others is at hand, and the rest is only sorted as far as that needs. */
export class Heap<T> {
	private items: T[] = [];

	constructor(private readonly isBefore: (one: T, other: T) => boolean) {}

	get size(): number {
		return this.items.length;
	}

	get first(): T | undefined {
		return this.items[0];
	}

	push(item: T): void {
		this.items.push(item);
		this.rise(this.items.length - 1);
	}

	/** Takes out the first one. */
	shift(): T | undefined {
		const [first] = this.items;
		const last = this.items.pop();
		if (last !== undefined && this.items.length > 0) {
			this.items[0] = last;
			this.sink(0);
		}
		return first;
	}

	/** Drops everything else. */
	keep(wanted: (item: T) => boolean): void {
		this.items = this.items.filter(wanted);
		for (let at = (this.items.length >> 1) - 1; at >= 0; at -= 1) this.sink(at);
	}

	private rise(from: number): void {
		let at = from;
		for (let above = (at - 1) >> 1; at > 0 && this.goesBefore(at, above); above = (at - 1) >> 1) {
			this.swap(at, above);
			at = above;
		}
	}

	private sink(from: number): void {
		for (let at = from; ;) {
			let least = at;
			for (const below of [2 * at + 1, 2 * at + 2]) {
				if (below < this.items.length && this.goesBefore(below, least)) least = below;
			}
			if (least === at) return;
			this.swap(at, least);
			at = least;
		}
	}

	private goesBefore(one: number, other: number): boolean {
		return this.isBefore(this.items[one] as T, this.items[other] as T);
	}

	private swap(one: number, other: number): void {
		const kept = this.items[one] as T;
		this.items[one] = this.items[other] as T;
		this.items[other] = kept;
	}
}
