/** Forgets the least recently used entries, so that nothing from outside can fill the memory. Normal use needs far fewer. */
export class BoundedMap<K, V> extends Map<K, V> {
	constructor(private readonly limit = 1_000) {
		super();
	}

	/** Reading an entry counts as a use. */
	override get(key: K): V | undefined {
		const value = super.get(key);
		if (value !== undefined) this.set(key, value);
		return value;
	}

	override set(key: K, value: V): this {
		this.delete(key);
		const [oldest] = this.keys();
		if (this.size >= this.limit && oldest !== undefined) this.delete(oldest);
		return super.set(key, value);
	}
}

/** Returns the value of a key, and makes it first if there is none. */
export function getOrCreate<K, V>(
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
