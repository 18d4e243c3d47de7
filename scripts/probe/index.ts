/** Checks what docs/service.md assumes or leaves open against a service. */
import { type CallbackOptions, watchCallbacks } from './callbacks';
import { type Finding, Findings } from './findings';
import { defaultValues, kindsOf, type Values } from './kinds';
import type { Pace } from './life';
import { makeOne, refusedCreation } from './making';
import { readOnly } from './reading';
import { ProbedService } from './service';

export interface ProbeOptions {
	baseUrl: string;
	apiKey: string;
	/** Make one task of each kind, with these values. */
	spend?: Values & Pace;
	/** Make one more task, and watch its callbacks. */
	callback?: CallbackOptions;
	/** Told of every task that was made. */
	log?: (text: string) => void;
}

/** What no run of this probe can show. */
function reportOpen(findings: Findings, { spend, callback }: ProbeOptions): void {
	findings.open(['Errors', 'An expired key'], 'words that say so');
	findings.open(['Errors', 'A key that reached its daily limit'], 'perhaps 429');
	findings.open(['Limits', 'Sizes of requests, time limits of callbacks'], 'left open');
	if (spend === undefined)
		findings.open(['Shapes', 'Tasks: creation, life, results, files'], 'see -- --spend');
	if (callback === undefined) findings.open(['Callbacks', 'Callbacks'], 'see -- --callback URL');
}

/** All findings, in the order of the questions. Reads only, unless told to spend. No creation is ever sent twice. */
export async function probe(options: ProbeOptions): Promise<Finding[]> {
	const { baseUrl, apiKey, spend, callback, log = () => undefined } = options;
	const service = new ProbedService(baseUrl, apiKey);
	const findings = new Findings((text) => service.withoutKeys(text));
	await readOnly(service, findings);
	if (spend !== undefined) {
		await refusedCreation(service, findings);
		for (const kind of kindsOf(spend)) await makeOne(service, kind, { findings, pace: spend, log });
	}
	if (callback !== undefined) {
		const [soundEffect] = kindsOf(spend ?? defaultValues);
		if (soundEffect !== undefined)
			await watchCallbacks(service, soundEffect, { ...callback, findings, log });
	}
	const limits = [...service.limitHeaders].sort().join(', ') || 'none';
	findings.add(['Limits', 'Headers about rate limits'], 'left open', limits);
	const failed = [...service.statuses].filter(
		([status]) => status === 0 || status === 429 || status >= 500,
	);
	findings.add(
		['HTTP', 'Requests that were throttled or failed'],
		'none',
		failed
			.map(([status, count]) => `${count} x ${status === 0 ? 'no answer' : status}`)
			.join(', ') || 'none',
		failed.length === 0,
	);
	reportOpen(findings, options);
	return findings.all;
}
