/** Credits and API keys: `GET /v1/credits`, `GET /v1/api-keys`. docs/service.md, "Endpoints". Neither costs anything. */
import { FailureError } from '../base/failures';
import { isObject, mapTexts, type JsonObject } from '../base/json';
import { readBody, unreadable } from '../service/reading';
import { apiKeysOf, creditsOf } from '../service/task';
import type { Resource, Job } from './operation';

const SECRET = /sk_[^\s"']*/g;
/** Also `access_token`, `secretKey`, `client-secret`; but not `monkey`, nor `token_type`. */
const SECRET_NAME =
	/api_?keys?$|(^|[_-])(value|key|secret|token|passw(or)?d|passphrase|pwd)s?$|[a-z](Key|Secret|Token|Password)s?$/;
/** At most eight characters before the stars, and four behind them. */
const MASKED = /^[^*]{0,11}\*{3,}[^*]{0,4}$/;

/** Enough of a secret to tell keys apart, and nothing to use. */
export function maskSecret(secret: string): string {
	const prefix = secret.startsWith('sk_') ? 'sk_' : '';
	return secret.length - prefix.length < 12 ? `${prefix}****` : `${prefix}****${secret.slice(-4)}`;
}

/** By their prefix wherever they stand, and by the names that secrets have. A list can be keyed by the keys themselves. */
export function maskSecrets<T>(value: T): T {
	const masked = (secret: string) => (MASKED.test(secret) ? secret : maskSecret(secret));
	return mapTexts(value, (text, name = '') =>
		SECRET_NAME.test(name) || SECRET_NAME.test(name.toLowerCase())
			? masked(text)
			: text.replace(SECRET, masked),
	);
}

/** @param itemsOf undefined where the answer's body has an unexpected shape */
function reads(path: string, itemsOf: (body: unknown) => JsonObject[] | undefined): Job {
	return {
		kind: 'reads',
		async read(from) {
			const items = itemsOf(await readBody({ ...from, path }));
			if (items !== undefined) return items;
			throw new FailureError(unreadable(path, 'the answer has an unexpected shape'));
		},
	};
}

export const credits: Resource = {
	value: 'credits',
	name: 'Credit',
	operations: [
		{
			value: 'get',
			name: 'Get',
			action: 'Get credit balance',
			description: 'Read how many credits the account has left',
			subtitle: 'Get credits',
			work: reads('/v1/credits', (body) => {
				if (!isObject(body)) return undefined;
				const balance = creditsOf(body);
				// A balance that arrives wrapped or as a text is put where workflows look for it.
				return [balance === undefined ? body : { ...body, credits: balance }];
			}),
		},
	],
};

export const apiKeys: Resource = {
	value: 'apiKey',
	name: 'API Key',
	operations: [
		{
			value: 'getAll',
			name: 'Get Many',
			action: 'Get many API keys',
			description: 'List the API keys of the account, one item each, with the secrets masked',
			subtitle: 'Get API keys',
			work: reads('/v1/api-keys', (body) => apiKeysOf(body)?.map(maskSecrets)),
		},
	],
};
