/** Whether it is a Date or the like. A service can give its objects a field of that name. */
const isSelfWriting = (value: object) => 'toJSON' in value && typeof value.toJSON === 'function';

/**
 * Makes a copy in which every text and every field name is changed. Dates and the like stay.
 * @param change also gets the name of the field, which a list passes on to its entries; '' for the name itself
 */
export function mapTexts<T>(value: T, change: (text: string, name: string) => string): T {
	// A value in several places, or within itself, is copied once.
	const copies = new Map<object, object>();
	const mapOne = (each: unknown, name: string, depth: number): unknown => {
		if (typeof each === 'string') return change(each, name);
		if (typeof each !== 'object' || each === null || isSelfWriting(each)) return each;
		const isList = Array.isArray(each);
		// A deeper value would overflow the stack, and is left out.
		const known = depth < 200 ? copies.get(each) : null;
		if (known !== undefined) return known;
		const copy = isList ? [] : {};
		copies.set(each, copy);
		for (const [key, entry] of Object.entries(each)) {
			const mapped = mapOne(entry, isList ? name : key, depth + 1);
			const field = { value: mapped, enumerable: true, writable: true, configurable: true };
			// An assignment to "__proto__" would set the prototype.
			Object.defineProperty(copy, isList ? key : change(key, ''), field);
		}
		return copy;
	};
	return mapOne(value, '', 0) as T;
}
