/** Finds API keys in texts: a known one in every form, others by their beginning. */
import { mapTexts } from './json';
import { base64Forms } from './tokens';

/** A shorter key can be a part of an ID by accident, so it counts only where it stands alone. */
const UNMISTAKABLE = 12;
const ENTITIES: Record<string, string> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot' };

const literally = (text: string) => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
const inAnyCase = (hex: string) => hex.replace(/[a-f]/g, (x) => `[${x}${x.toUpperCase()}]`);

/** Matches a character as it is, or escaped for a URL (however often), HTML or JSON. */
function anyForm(character: string): string {
	const code = character.charCodeAt(0);
	const hex = inAnyCase(code.toString(16).padStart(2, '0'));
	const entity = ENTITIES[character] ?? `#0*${code}`;
	const html = `&(?:#0*${code}|#[xX]0*${hex}|${entity});`;
	return `(?:${literally(character)}|%(?:25)*${hex}|${html}|\\\\u00${hex})`;
}

export function patternOf(secret: string): RegExp {
	if (secret.length < UNMISTAKABLE)
		return new RegExp(`(?<![\\w-])${literally(secret)}(?![\\w-])`, 'g');
	const forms = [[...secret].map(anyForm).join(''), ...base64Forms(secret).map(literally)];
	return new RegExp(forms.join('|'), 'g');
}

const ANY_KEY = /(?<![a-z0-9])sk_[^\s"']{6,}/gi;
/** A masked key has at most eight characters before the stars, and four behind them. */
const MASKED = /^[^*]{0,11}\*{3,}[^*]{0,4}$/;

/** Leaves enough of a secret to tell keys apart, and nothing to use. What is masked already stays. */
export function maskSecret(secret: string): string {
	if (MASKED.test(secret)) return secret;
	const prefix = secret.startsWith('sk_') ? 'sk_' : '';
	return secret.length - prefix.length < 12 ? `${prefix}****` : `${prefix}****${secret.slice(-4)}`;
}

/**
 * Makes a copy in which whatever begins like a key is masked, also in the names of fields.
 * @param change what else happens to a text, by the name of its field
 */
export function maskKeys<T>(value: T, change: (text: string, name: string) => string): T {
	return mapTexts(value, (text, name = '') => change(text, name).replace(ANY_KEY, maskSecret));
}
