/** Removes the API key, the callback secret, and the tokens of URLs that call this n8n from items, errors, hints and logs. */
import type { INodeExecutionData } from 'n8n-workflow';
import { getOrCreate } from '../base/boundedMap';
import type { Work } from '../base/work';
import { onOneLine } from '../base/words';
import { mapTexts } from '../base/mapTexts';
import type { JsonObject } from '../base/json';
import { urlOf } from '../base/url';
import { inPieces } from './realClock';

/**
 * A URL by which n8n or this package wakes an execution, or that this package has signed: from its mark to the end of the word. n8n's own
 * part of a URL can have another name (`N8N_ENDPOINT_WEBHOOK_WAIT`), this package's (`WEBHOOK_PATH`) can't. JSON may escape slashes and "=".
 */
const CALLABLE =
	/(?:-waiting(?:\\*\/|%2f)[\da-f]|\d(?:\\*\/|%2f)media-generation(?:\?|%3f)|nonce(?:=|%3d|\\+u003d)[\da-f]{24})[^\s"'<>]*/gi;
const SIGNATURE = /(signature(?:=|%3d|\\+u003d))[\w-]+/gi;

/** What n8n saves of an error that nodes fill with words from outside. */
const SAVED = ['message', 'description', 'stack', 'messages', 'context', 'errorResponse'] as const;

/** Matches a character's code in hexadecimal, in either case. */
const hexadecimal = (code: number, digits: number) =>
	code
		.toString(16)
		.padStart(digits, '0')
		.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);

/** Finds a secret as it is, and with any of its characters escaped as in JSON or percent-encoded, once or several times. */
interface Forms {
	/** Begins with no backslash: a text can have millions. */
	within: RegExp;
	withBackslashes: RegExp;
}

function formsOf(secret: string): Forms {
	const forms = [...secret].map((character) => {
		const itself = character.replace(/[^\w\s]/u, '\\$&');
		const units = character.split('').map((unit) => hexadecimal(unit.charCodeAt(0), 4));
		const bytes = [...Buffer.from(character)].map((byte) => hexadecimal(byte, 2));
		const json = units.map((unit) => `u${unit}`).join('\\\\{1,4}');
		const percent = bytes.map((byte) => `(?:%|u0025)(?:25){0,3}${byte}`).join('\\\\{0,4}');
		return `(?:${itself}|${json}|${percent})`;
	});
	const form = forms.join('\\\\{0,4}');
	return { within: new RegExp(form), withBackslashes: new RegExp(`\\\\{0,4}${form}`, 'g') };
}

type Secrets = Map<string, Forms>;

function hide(text: string, secrets: Secrets, stars: string): string {
	// Most texts have no escapes, and are searched much faster.
	const isPlain = !text.includes('%') && !text.includes('\\');
	let clean = text;
	for (const [secret, { within, withBackslashes }] of secrets)
		if (isPlain) clean = clean.replaceAll(secret, stars);
		else if (within.test(clean)) clean = clean.replace(withBackslashes, stars);
	return clean;
}

export class Cleaner {
	/** There can be several, because a key can change during a run. */
	private readonly keys: Secrets = new Map();
	private readonly secrets: Secrets = new Map();

	knows({ apiKey, callbackSecret }: { apiKey: string; callbackSecret: string }): void {
		getOrCreate(this.keys, apiKey, () => formsOf(apiKey));
		if (callbackSecret !== '')
			getOrCreate(this.secrets, callbackSecret, () => formsOf(callbackSecret));
	}

	/** Hides the token of a URL by which this context was called or can be called, wherever it occurs. */
	hasUrl(url: unknown): void {
		const token = urlOf(url)?.searchParams.get('signature') ?? '';
		// A shorter one may be in a text by accident.
		if (token.length >= 16) getOrCreate(this.secrets, token, () => formsOf(token));
	}

	/** Cleans answers of the service, which are read afterwards: other secrets could be in an ID by accident. */
	readonly key = (text: string): string => hide(text, this.keys, 'sk_***');

	readonly text = (text: string): string => {
		const clean = this.key(text).replace(CALLABLE, (url) => url.replace(SIGNATURE, '$1***'));
		return hide(clean, this.secrets, '***');
	};

	/** Returns the value itself if it is clean, else a clean copy. Field names are cleaned, too. */
	value<T>(value: T): T {
		return this.isClean(value) ? value : mapTexts(value, this.text);
	}

	private isClean(value: unknown): boolean {
		try {
			const json = JSON.stringify(value) ?? '';
			return this.text(json) === json;
		} catch {
			// It is circular, or nested too deeply.
			return false;
		}
	}

	/** Cleans in place, item by item. Files are left as they are. */
	*items(items: INodeExecutionData[]): Work<INodeExecutionData[]> {
		for (const item of items) {
			item.json = this.value(item.json);
			this.error(item.error);
			yield;
		}
		return items;
	}

	/** Cleans an error that n8n will show and save: in place, because n8n tells errors apart by their class. */
	error(error: unknown, depth = 0): unknown {
		if (!(error instanceof Error) || depth > 5) return error;
		const shown = error as Error & JsonObject;
		for (const name of SAVED) {
			const own = this.value(shown[name]);
			const clean = name.startsWith('message') ? mapTexts(own, onOneLine) : own;
			if (clean !== shown[name]) Object.assign(shown, { [name]: clean });
		}
		this.error(error.cause, depth + 1);
		return error;
	}
}

const cleaners = new WeakMap<object, Cleaner>();

export function cleanerOf(context: object): Cleaner {
	return getOrCreate(cleaners, context, () => new Cleaner());
}

/** Cleans items on their way to the next node, into a sleep, or out of it. */
export async function cleanItems(
	context: object,
	items: INodeExecutionData[],
): Promise<INodeExecutionData[]> {
	return await inPieces(cleanerOf(context).items(items));
}

export async function cleanly(
	context: object,
	run: () => Promise<INodeExecutionData[]>,
): Promise<INodeExecutionData[]> {
	try {
		return await cleanItems(context, await run());
	} catch (error) {
		throw cleanerOf(context).error(error);
	}
}
