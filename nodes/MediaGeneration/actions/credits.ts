/** Reads credits and API keys, which costs nothing: `GET /v1/credits`, `GET /v1/api-keys` (docs/service.md, "Endpoints"). */
import { FailureError } from '../base/outcomes';
import { mapTexts } from '../base/mapTexts';
import { isObject, type JsonObject } from '../base/json';
import { recordsOf } from '../answers/lists';
import { readBody } from '../transport/reading';
import { unreadable } from '../answers/failures';
import { creditsOf } from '../answers/balance';
import { getMany, type ReadSource, type Resource } from './operation';
import * as ui from './ui';

/** Leaves enough of a secret to tell keys apart, and nothing to use. What is masked already stays. */
function maskSecret(secret: string): string {
	// The prefix and at most eight characters, then stars, then at most four characters.
	if (/^[^*]{0,11}\*{3,}[^*]{0,4}$/.test(secret)) return secret;
	const prefix = secret.startsWith('sk_') ? 'sk_' : '';
	return secret.length - prefix.length < 12 ? `${prefix}****` : `${prefix}****${secret.slice(-4)}`;
}

/**
 * Makes a copy in which whatever begins like a key is masked, even in field names: a list can be keyed by the keys themselves.
 * @param isSecret by the name of a field, whose text is then masked as a whole
 */
export function maskKeys<T>(value: T, isSecret = (_name: string) => false): T {
	// Shorter ones are languages and names: "sk_SK.UTF-8". No key is longer, and a word of some MB would overflow the stack.
	const key = /(?<![a-z0-9])sk_[\w-]{16,2000}/gi;
	return mapTexts(value, (text, name) =>
		isSecret(name) ? maskSecret(text) : text.replace(key, maskSecret),
	);
}

/** Finds keys by their prefix, and secrets by the names of their fields. */
export function maskSecrets<T>(value: T): T {
	// Matches `access_token`, `secretKey` and `client-secret`, too; but not `monkey`, nor `token_type`.
	const secret =
		/api_?keys?$|(^|[_-])(value|key|secret|token|passw(or)?d|passphrase|pwd)s?$|[a-z](Key|Secret|Token|Password)s?$/;
	return maskKeys(value, (name) => secret.test(name) || secret.test(name.toLowerCase()));
}

/** @param itemsOf returns undefined for a body of an unexpected shape */
async function itemsAt<T>(
	from: ReadSource,
	path: string,
	itemsOf: (body: unknown) => T[] | undefined,
): Promise<T[]> {
	const items = itemsOf(await readBody({ ...from, path }));
	if (items !== undefined) return items;
	throw new FailureError(unreadable(path, 'the answer has an unexpected shape'));
}

/** A balance that arrives wrapped or as a text is put where workflows look for it. */
function balanceItems(body: unknown): JsonObject[] | undefined {
	const balance = creditsOf(body);
	if (balance !== undefined) return [{ ...(isObject(body) ? body : {}), credits: balance }];
	return isObject(body) ? [body] : undefined;
}

export const credits: Resource = {
	value: 'credits',
	name: 'Credit',
	operations: [
		{
			value: 'get',
			name: 'Get',
			action: 'Get credit balance',
			description: 'Get the credit balance of the account',
			work: {
				kind: 'reads',
				read: async (from) => await itemsAt(from, '/v1/credits', balanceItems),
			},
		},
	],
};

export const apiKeys: Resource = {
	value: 'apiKey',
	name: 'API Key',
	fields: ui.limitFields,
	operations: [
		getMany('API keys', 'of the account, with their secrets masked', async (from, fields) => {
			const limit = fields.limit();
			const keys = await itemsAt(from, '/v1/api-keys', recordsOf);
			return keys.slice(0, limit).map((each) => maskSecrets(isObject(each) ? each : { key: each }));
		}),
	],
};
