/** What answers say about the account's credits. Source: docs/service.md, "Shapes". */
import { asNumber, isGiven, isObject, type JsonObject } from '../base/json';
import { placesOf } from './task';

export function creditsOf(body: unknown): number | undefined {
	if (!isObject(body)) return asNumber(body);
	return [...placesOf(body, 'credits', 'balance'), body.data].map(asNumber).find(isGiven);
}

/** Finds the cost that an answer or a task names (docs/service.md, "Shapes"). */
export function costIn(body: JsonObject): number | undefined {
	const costs = placesOf(body, 'credit_cost', 'estimated_credits').map(asNumber);
	return costs.find((cost = -1) => cost >= 0);
}

export function creditsLeftIn(answer: JsonObject): number | undefined {
	return placesOf(answer, 'ec_remain_credits').map(asNumber).find(isGiven);
}
