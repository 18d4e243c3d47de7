/** Checks what docs/service.md assumes or leaves open against a service. */
import { type CallbackOptions, watchCallbacks } from './callbacks';
import { type Finding, Findings } from './findings';
import { kindsOf, makeOne, type Pace, refusedCreation, type Values } from './making';
import { readOnly } from './reading';
import { ProbedService } from './service';

/** `spend`: make one task of each kind, with these values. `callback`: make one more, and watch its callbacks. */
export interface ProbeOptions {
	baseUrl: string;
	apiKey: string;
	spend?: Values & Pace;
	callback?: CallbackOptions;
	log?: (text: string) => void;
}

/** All findings, in the order of the questions. Reads only, unless told to spend. No creation is ever sent twice. */
export async function probe(options: ProbeOptions): Promise<Finding[]> {
	const { baseUrl, apiKey, spend, callback, log = () => undefined } = options;
	const service = new ProbedService(baseUrl, apiKey);
	const findings = new Findings((text) => service.withoutKeys(text));
	const see = findings.of();
	await readOnly(service, see);
	if (spend !== undefined) {
		await refusedCreation(service, see);
		for (const kind of kindsOf(spend))
			await makeOne(service, { ...kind, pace: spend }, { findings, log });
	}
	if (callback !== undefined) await watchCallbacks(service, callback, { findings, log });
	see('limitHeaders', [...service.limitHeaders].sort().join(', ') || 'none');
	const failed = [...service.statuses].filter(([it]) => it === 0 || it === 429 || it >= 500);
	const words = failed.map(([it, count]) => `${count} x ${it === 0 ? 'no answer' : it}`);
	see('throttled', words.join(', ') || 'none', failed.length === 0 || 'copes');
	return findings.all;
}
