/** Forgets the least recently used entries, so that nothing from outside can fill the memory. */
export class BoundedMap<K, V> {
	private readonly entries = new Map<K, V>();

	constructor(private readonly limit: number) {}

	has(key: K): boolean {
		return this.entries.has(key);
	}

	/** Counts as a use. */
	get(key: K): V | undefined {
		const value = this.entries.get(key);
		if (value !== undefined) this.set(key, value);
		return value;
	}

	set(key: K, value: V): void {
		this.entries.delete(key);
		this.entries.set(key, value);
		const oldest = this.entries.keys().next();
		if (this.entries.size > this.limit && oldest.done !== true) this.entries.delete(oldest.value);
	}

	delete(key: K): void {
		this.entries.delete(key);
	}
}

/** The value of a key, made now where there is none yet. */
export function ensured<K, V>(
	map: Pick<Map<K, V>, 'get'> & { set(key: K, value: V): unknown },
	key: K,
	make: () => V,
): V {
	const present = map.get(key);
	if (present !== undefined) return present;
	const made = make();
	map.set(key, made);
	return made;
}
