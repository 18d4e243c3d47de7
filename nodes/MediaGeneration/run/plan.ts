/** Reads and checks the fields of every item before anything is sent. */
import type { ItemFields } from '../actions/fields';
import { requestsFor, textsOf } from '../actions/longText';
import type { Job, Operation } from '../actions/operation';
import { readRunSettings, type RunSettings } from '../actions/creditLimits';
import { includeInputOption, readItemSettings } from '../actions/waiting';
import type { Work } from '../base/work';
import { asFailure, attempt } from '../base/outcomes';
import type { Ledger } from '../task/ledger';
import { failedResult, type ItemResult, type Plan } from './item';
import { planAwaited } from './planAwaited';

/** Where the texts of an earlier try are noted; undefined if n8n does not repeat the node. */
type EarlierTexts = Pick<Ledger, 'firstTexts'> | undefined;

type Creating = Extract<Job, { kind: 'creates' }>;

function* planCreation(work: Creating, fields: ItemFields, earlier: EarlierTexts): Work<Plan> {
	const index = fields.itemIndex;
	const settings = readItemSettings(fields, false, work.callsBack);
	const { longText } = settings;
	const request = work.request(fields);
	const split = yield* textsOf(request, longText);
	const files = work.files?.(fields) ?? [];
	const isLong = longText.kind !== 'off';
	const texts = isLong ? (earlier?.firstTexts(index, split) ?? split) : split;
	const requests = isLong ? requestsFor(request, texts) : [request];
	const wanted = requests.map((each) => ({ kind: 'creates', request: each }) as const);
	return { kind: 'plan', index, settings, files, wanted, assembly: { longText, texts } };
}

export function* planItems(
	{ work }: Operation,
	inputs: readonly ItemFields[],
	earlier: EarlierTexts,
): Work<Array<Plan | ItemResult>> {
	const planned: Array<Plan | ItemResult> = [];
	for (const fields of inputs) {
		try {
			// Only one item's run settings apply, but every item's are validated.
			readRunSettings(fields);
			// The output reads it when it is too late for a refusal.
			fields.boolean(includeInputOption, false);
			if (work.kind === 'creates') planned.push(yield* planCreation(work, fields, earlier));
			else for (const each of planAwaited(fields)) planned.push(each);
		} catch (error) {
			planned.push(failedResult(fields.itemIndex, asFailure(error)));
		}
		yield;
	}
	return planned;
}

/** Returns the first settings that can be read, whatever else is wrong with their item; throws a FailureError if there are none. */
export function runSettings(inputs: readonly ItemFields[]): RunSettings {
	const readable = inputs.find((fields) => attempt(() => readRunSettings(fields)).ok);
	return readRunSettings((readable ?? inputs[0]) as ItemFields);
}
