/** What answers say about the account's credits. Source: docs/service.md, "Shapes". */
import { asNumber, isGiven, isObject, type JsonObject } from '../base/json';
import { refusalInside } from './reply';
import { layersOf } from './task';

const numbersIn = (body: unknown, names: readonly string[]): number[] =>
	names.flatMap((name) => layersOf(body).flatMap((layer) => asNumber(layer[name]) ?? []));

const LEFT = ['credits', 'balance', 'remaining_credits', 'credits_left', 'ec_remain_credits'];

/** Reads a balance of any shape, a bare number included. */
export function creditsOf(body: unknown): number | undefined {
	if (!isObject(body)) return asNumber(body);
	if (refusalInside(body) !== undefined) return undefined;
	return [...numbersIn(body, LEFT), asNumber(body.data)].find(isGiven);
}

/** Finds the cost that an answer or a task names. */
export function costIn(body: JsonObject): number | undefined {
	return numbersIn(body, ['credit_cost', 'estimated_credits']).find((cost) => cost >= 0);
}

export function creditsLeftIn(answer: JsonObject): number | undefined {
	return numbersIn(answer, ['ec_remain_credits'])[0];
}
