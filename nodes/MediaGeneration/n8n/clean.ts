/**
 * Items, errors, hints and logs leave without the API key, the callback secret, and the tokens of URLs by which this n8n can be called.
 * Only what this package itself has sent is looked for: nothing that a caller posts decides what is erased.
 */
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { ensured } from '../base/boundedMap';
import { type Work } from '../base/clock';
import { inPieces } from './clock';
import { onOneLine } from '../base/failures';
import { mapTexts, mapTextsInPieces, urlOf, type JsonObject, type Seen } from '../base/json';
import { patternOf } from '../base/keys';
import { TokenSet } from '../base/tokens';

const MIN_TOKEN = 16;
/** These fields identify lost tasks, so the secret stays in them: the service never learns it, and they hold it only by accident. */
const ID_FIELD = /^id$|_ids?$|[a-z]Ids?$/;

/** A pattern lives as long as the credential that was read, which serves many callbacks. */
const patterns = new WeakMap<object, RegExp>();

/** A word can hold a URL, or a part of one, that is escaped for another URL, for HTML or for JSON. */
const WORD = /[^\s"'<>]+/g;
/** Such a URL is meant for the service only: n8n wakes an execution by it, or this package has signed it. */
const WAKES_OR_CALLS =
	/-waiting(?:\\?\/|%(?:25)*2f)\d+(?:\\?[/?]|%(?:25)*[23]f)|signed_for(?:=|%(?:25)*3d|\\u003d)/i;
const SIGNATURE = /(signature(?:=|%(?:25)*3[dD]|\\u003[dD]))[\w-]+/g;

/** Nobody remembers the tokens of earlier runs, so URLs are recognized by their form. */
function withoutTokensOfUrls(text: string): string {
	if (!text.includes('signature')) return text;
	return text.replace(WORD, (word) =>
		WAKES_OR_CALLS.test(word) ? word.replace(SIGNATURE, '$1***') : word,
	);
}

export class Cleaner {
	/** There can be several, as a key can change while a run goes on. */
	private readonly keys = new Map<string, RegExp>();
	private readonly tokens = new TokenSet();
	private readonly secrets = new TokenSet();

	knows(credentials: { apiKey: string; callbackSecret: string }): void {
		const { apiKey, callbackSecret } = credentials;
		ensured(this.keys, apiKey, () => ensured(patterns, credentials, () => patternOf(apiKey)));
		if (callbackSecret !== '') this.secrets.add(callbackSecret);
	}

	/** @param url of a callback: it is on its way to the service, or was proved to come from it */
	hasSent(url: unknown): void {
		const token = urlOf(url)?.searchParams.get('signature') ?? '';
		if (token.length >= MIN_TOKEN) this.tokens.add(token);
	}

	key(text: string): string {
		let clean = text;
		for (const pattern of this.keys.values()) clean = clean.replace(pattern, 'sk_***');
		return clean;
	}

	text(text: string): string {
		return this.secrets.removedFrom(this.named(text));
	}

	/** Returns a copy. */
	value<T>(value: T): T {
		return mapTexts(value, this.change);
	}

	/** Cleans in place, and in pieces. Files are left as they are. */
	*items(items: INodeExecutionData[]): Work<INodeExecutionData[]> {
		const seen: Seen = new Map();
		for (const item of items) {
			item.json = yield* mapTextsInPieces(item.json, this.change, seen);
			this.error(item.error);
			yield;
		}
		return items;
	}

	/** Cleans names of fields and IDs. */
	private named(text: string): string {
		return this.tokens.removedFrom(withoutTokensOfUrls(this.key(text)));
	}

	private readonly change = (text: string, name?: string) =>
		name === undefined || ID_FIELD.test(name) ? this.named(text) : this.text(text);

	/** Cleans an error that n8n will show and save: in place, as n8n tells errors apart by their class. */
	error(error: unknown, depth = 0): unknown {
		if (!(error instanceof Error) || depth > 5) return error;
		const shown = error as Error & JsonObject;
		for (const name of ['message', 'description', 'stack', 'messages', 'context'] as const) {
			const own = this.value(shown[name]);
			const clean = name.startsWith('message') ? mapTexts(own, onOneLine) : own;
			if (clean !== shown[name]) Object.assign(shown, { [name]: clean });
		}
		this.error(error.cause, depth + 1);
		return error;
	}
}

/** A note, hint or line of a log that fails must not end the run. */
export function quietly(tell: () => void): void {
	try {
		tell();
	} catch {
		// There is no other place to report it.
	}
}

type Log = Record<'info' | 'warn', (line: string) => void>;

export function logOf(context: Pick<IExecuteFunctions, 'logger'>): Log {
	const { logger } = context;
	const clean = (line: string) => onOneLine(cleanerOf(context).text(line));
	return {
		info: (line: string) => quietly(() => logger.info(clean(line))),
		warn: (line: string) => quietly(() => logger.warn(clean(line))),
	};
}

const cleaners = new WeakMap<object, Cleaner>();

export function cleanerOf(context: object): Cleaner {
	return ensured(cleaners, context, () => new Cleaner());
}

/** Cleans items that leave: to the next node, into a sleep, or out of it. */
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
