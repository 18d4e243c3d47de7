/** Reads what answers say about the account's credits. Source: docs/service.md, "Shapes". */
import { asNumber, asText, isGiven, isObject, type JsonObject } from '../base/json';
import { quote } from '../base/words';
import { deniesSuccess, refusalInside, type Answer } from './reply';
import { errorTextOf, saidIn } from './said';
import { layersOf } from './task';

/** Reads "1,234.5" as well, but not "0,125" or "12,5". */
const amountIn = (value: unknown): number | undefined =>
	asNumber(asText(value)?.replace(/(?<=^[1-9]\d{0,2}(,\d{3})*),(?=\d{3}\b)/g, ''));

function numbersIn(body: unknown, names: readonly string[]): number[] {
	const layers = layersOf(body).flatMap((layer) => [layer, layer.credits].filter(isObject));
	return names.flatMap((name) => layers.flatMap((layer) => amountIn(layer[name]) ?? []));
}

const LEFT = [
	...['credits', 'balance', 'remaining_credits', 'credits_left'],
	...['ec_remain_credits', 'remaining'],
];

/** Finds a balance of any shape, a bare number included, in an answer that is no refusal. */
export function creditsOf(body: unknown, names: readonly string[] = LEFT): number | undefined {
	if (!isObject(body)) return amountIn(body);
	return [...numbersIn(body, names), amountIn(body.data)].find(isGiven);
}

/** Finds the cost that an answer or a task names. */
export function costIn(body: JsonObject): number | undefined {
	return numbersIn(body, ['credit_cost', 'estimated_credits']).find((cost) => cost >= 0);
}

export function creditsLeftIn(answer: JsonObject): number | undefined {
	return numbersIn(answer, ['ec_remain_credits'])[0];
}

/** Without a version such as /v1, which this package adds itself. */
const ADDRESS = 'Enter the address of the API, without a version such as /v1.';

const BY_STATUS: Readonly<Record<number, string>> = {
	401: "The service does not accept this API key: it is invalid, has expired or was revoked. Copy it again from the API Keys page of the service. If the service wants the key in another header, change 'Key Header'.",
	403: 'The service accepts this API key, but not for reading the account. Allow it to do so at the service; generating may work all the same.',
	404: `There is no such service at the Base URL. ${ADDRESS}`,
	429: 'The service accepts no requests with this API key at the moment. Its daily limit may be reached. Try again later.',
};

/** Explains, for the test of the credential, why an answer shows no balance; undefined if it does. */
export function balanceProblem(answer: Answer): string | undefined {
	const { status, body } = answer;
	if (status >= 300 && status < 400)
		return `The Base URL redirects to another address (HTTP ${status}), and the API key is not sent there. Enter the address of the service itself, e.g. with https:// or without "www."`;
	if (saidIn(answer, []).isPage)
		return `A web page came instead of JSON (HTTP ${status}): the Base URL leads to a website, or something in front of the service has answered, such as a CDN, a firewall or a proxy. That says nothing about the API key. ${ADDRESS}`;
	const reason = quote(isObject(body) ? errorTextOf(body) : undefined);
	const words = reason === undefined ? '' : ` The service says: ${reason}`;
	if (status < 300) {
		if (deniesSuccess(body))
			return `The service refuses to show the credits of this API key.${words}`;
		if (refusalInside(body) === undefined && creditsOf(body) !== undefined) return undefined;
		return `The Base URL answers, but not with a credit balance, so it may be another service. ${ADDRESS}${words}`;
	}
	// Some services refuse with 401 what a valid key may not do.
	const isLimited = status === 401 && /permission|scope/i.test(JSON.stringify(body) ?? '');
	const known = BY_STATUS[isLimited ? 403 : status];
	return `${known ?? `The service answered with HTTP ${status}. Try again later.`}${words}`;
}
