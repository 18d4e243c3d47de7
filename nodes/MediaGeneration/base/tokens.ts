/** Finds any number of tokens in one pass over a text, by a hash of eight characters that moves along with it (Rabin and Karp). */
import { ensured } from './boundedMap';

/** The hash moves by this many bits for each character, so that it depends on the last eight. */
const SHIFT = 4;
const HASHED = 32 / SHIFT;
const SLOTS = 65_536;

const step = (hash: number, code: number) => (hash << SHIFT) ^ code;
const slotOf = (hash: number) => (hash ^ (hash >>> 16)) & (SLOTS - 1);

function hashOfStart(token: string): number {
	let hash = 0;
	for (let at = 0; at < HASHED; at += 1) hash = step(hash, token.charCodeAt(at));
	return hash;
}

/** Returns the part of a text's base64 that does not depend on what surrounds it, in both alphabets. */
export function base64Forms(text: string): string[] {
	return [0, 1, 2].flatMap((before) => {
		const encoded = Buffer.from('x'.repeat(before) + text).toString('base64');
		const bits = (before + Buffer.byteLength(text)) * 8;
		const own = encoded.slice(Math.ceil((before * 8) / 6), Math.floor(bits / 6));
		return [...new Set([own, own.replace(/\+/g, '-').replace(/\//g, '_')])];
	});
}

export class TokenSet {
	/** Tokens are grouped by the hash of their beginnings, then by length. */
	private readonly byHash = new Map<number, Map<number, Set<string>>>();
	/** Tells whether any token's hash falls into a slot: one look rules out most places of a text. */
	private slots: Uint8Array | undefined;

	/** @param token of at least 16 characters */
	add(token: string): void {
		this.slots ??= new Uint8Array(SLOTS);
		for (const form of [token, token.toUpperCase(), ...base64Forms(token)]) {
			const hash = hashOfStart(form);
			const byLength = ensured(this.byHash, hash, () => new Map<number, Set<string>>());
			ensured(byLength, form.length, () => new Set<string>()).add(form);
			this.slots[slotOf(hash)] = 1;
		}
	}

	/** Puts stars in the place of each token. */
	removedFrom(text: string): string {
		const { slots } = this;
		if (slots === undefined || text.length < HASHED) return text;
		let [clean, copied, hash] = ['', 0, 0];
		for (let at = 0; at < text.length; at += 1) {
			hash = step(hash, text.charCodeAt(at));
			const start = at + 1 - HASHED;
			if (start < copied || slots[slotOf(hash)] === 0) continue;
			for (const [length, tokens] of this.byHash.get(hash) ?? []) {
				if (!tokens.has(text.slice(start, start + length))) continue;
				clean += `${text.slice(copied, start)}***`;
				copied = start + length;
				at = copied - 1;
				break;
			}
		}
		return copied === 0 ? text : clean + text.slice(copied);
	}
}
