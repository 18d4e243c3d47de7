/** Says in the editor and the log what a run's items don't: what is paid for again, and what a person would notice only later. */
import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { recordIn, shownOutputs, type ShownOutput } from '../items/shownItem';
import { quietly } from '../n8n/log';
import { showHint, warn } from '../n8n/editor';
import { imageLimits } from '../actions/model';
import { isLongUnsplit, LONG_TEXT } from '../actions/refusal';
import { isOutcome } from '../base/outcomes';
import { itemsInWords, megabytes, quote } from '../base/words';
import { asText, isObject, sumOf } from '../base/json';
import { earlierKinds, partsToCreate, suspends, type Item, type ItemResult } from './item';
import { failuresIn } from './leftovers';
import type { Run } from './run';

type HintDeps = Pick<Run, 'context' | 'client' | 'ledger' | 'active' | 'stop'>;

/** Returns what to say, or nothing. */
type Hint = (items: readonly Item[], run: HintDeps) => string | undefined;

/** The option sends a creation again if its answer never came and the service's list does not show its task. */
const repeats: Hint = (items, { ledger }) => {
	const unclear = items.filter(
		(item) =>
			item.settings.sendUnclearAgain &&
			earlierKinds(ledger, item).some((kind) => kind === 'unclear' || kind === 'unrecorded'),
	);
	if (unclear.length === 0) return undefined;
	const which = itemsInWords(unclear.map(({ index }) => index));
	return `May be paid for twice: ${which}; no answer came the first time, and it is sent again unless it is found`;
};

const USABLE: readonly unknown[] = ['timed_out', 'unreachable', 'undelivered', 'cancelled'];

/** Lists the paid tasks that can still be used of an item that failed or timed out in an earlier node. */
function usableTasksOf(json: IDataObject): string[] {
	const { outcome, task_id, task_ids, unfinished } = recordIn(json);
	const isUsable = isOutcome(outcome) ? USABLE.includes(outcome) : unfinished === true;
	return isUsable ? [task_ids ?? task_id].flat().flatMap((each) => asText(each) ?? []) : [];
}

/** A creation makes a new task, as asked, even if its input has a paid one. */
const paidInput: Hint = (items, { context, ledger }) => {
	const input = context.getInputData();
	const paid = items.flatMap((item) => {
		const usable = usableTasksOf(input[item.index]?.json ?? {});
		if (usable.length === 0) return [];
		const kinds = earlierKinds(ledger, item);
		return kinds.some((kind) => kind !== 'created' && kind !== 'unread') ? usable : [];
	});
	if (paid.length === 0) return undefined;
	const which = [...new Set(paid)].join(', ');
	return `Paid for again, though "Task: Wait" can fetch the tasks of the input: ${which}`;
};

const longTexts: Hint = (items) => {
	const long = items.filter(({ assembly: { longText }, parts: [part] }) =>
		part?.kind === 'creates' ? isLongUnsplit(part.request, longText) : false,
	);
	if (long.length === 0) return undefined;
	const texts = long.length === 1 ? '1 text has' : `${long.length} texts have`;
	return `${texts} more than ${LONG_TEXT} characters: 'Long Text' splits and joins such texts`;
};

/** So many parts of texts are expensive, and may come from a mistyped length. */
const MANY_PARTS = 100;

const manyParts: Hint = (items) => {
	const split = items.filter(({ assembly: { longText } }) => longText.kind !== 'off');
	const parts = sumOf(split.map((item) => partsToCreate(item).length));
	if (parts < MANY_PARTS) return undefined;
	const texts = split.length === 1 ? '1 text' : `${split.length} texts`;
	return `${parts} tasks for ${texts}: a larger 'Max Characters per Part' makes fewer`;
};

/** A known limit may have changed, so that the service decides. */
const largeFiles: Hint = (items) => {
	for (const { request } of items.flatMap(partsToCreate)) {
		const { usualFileMb: most = Infinity, files = [] } = request;
		const large = files.find(({ size }) => size > most * 1_000_000);
		if (large !== undefined)
			return `${quote(large.name, 40)} has ${megabytes(large.size)}: services usually take at most ${most} MB here`;
	}
	return undefined;
};

/** A task that waits for its turn keeps the execution awake, and a restart of n8n would end it. */
const keptAwake: Hint = (items, { active: { limit } }) => {
	const count = items.filter(suspends).flatMap(partsToCreate).length;
	if (count <= limit) return undefined;
	return `${count} tasks, ${limit} at a time ('Max Active Tasks'): the execution stays awake until ${count - limit} have finished`;
};

/** Call this before anything is created. */
export function hintAtItems(run: HintDeps, items: readonly Item[]): void {
	const { context } = run;
	for (const hint of [manyParts, keptAwake, repeats, paidInput]) {
		const message = hint(items, run);
		if (message !== undefined) warn(context, message);
	}
	const long = longTexts(items, run);
	if (long !== undefined) showHint(context, 'info', long);
	const large = largeFiles(items, run);
	if (large !== undefined) showHint(context, 'warning', large);
}

type ItemsMade = Extract<ItemResult, { kind: 'items' }>;

/** Tells of tasks that made fewer images than were asked for. */
async function shortfalls(
	{ client, stop }: HintDeps,
	made: readonly ItemsMade[],
): Promise<string[]> {
	const short = made.flatMap(({ item, items }) => {
		const [part] = item?.parts ?? [];
		if (part?.kind !== 'creates' || part.request.kind !== 'image') return [];
		const { model_id: model, generations_count: count } = part.request.body;
		const asked = Number(count ?? 1);
		const images = items.flatMap(shownOutputs).filter(({ kind }) => kind === 'image').length;
		return images > 0 && images < asked ? [{ model, asked, images }] : [];
	});
	if (short.length === 0) return [];
	const limits = await imageLimits({ client, signal: stop });
	return short.map(({ model, asked, images }) => {
		const most = limits.get(asText(model) ?? '');
		const limit = most === undefined ? '' : `: the model makes at most ${most} per task`;
		return `The service made ${images} of ${asked} images${limit}`;
	});
}

function isHalfDubbed({ items }: ItemsMade): boolean {
	const isHalf = (of: unknown) => isObject(of) && of.replacement_status === 'failed';
	return items.some(({ json: { metadata } }) => isHalf(metadata));
}

/** Files of equal names would replace each other if they were written to one folder. */
export function hintAtNames(context: IExecuteFunctions, outputs: readonly ShownOutput[]): void {
	const counts = new Map<string, number>();
	for (const name of outputs.flatMap(({ fileName }) => fileName?.toLowerCase() ?? []))
		counts.set(name, (counts.get(name) ?? 0) + 1);
	const [found] = [...counts].filter(([, count]) => count > 1);
	if (found === undefined) return;
	const [name, count] = found;
	const message = `${count} files are named "${quote(name, 40)}": put something unique to each item into 'File Name'`;
	showHint(context, 'warning', message);
}

/** Call this after the run. */
export async function hintAtFiles(run: HintDeps, results: readonly ItemResult[]): Promise<void> {
	const { context } = run;
	const made = results.filter((result) => result.kind === 'items');
	const messages = await shortfalls(run, made);
	if (made.some(isHalfDubbed))
		messages.push('A dubbing was made, but its second voice failed at the service');
	for (const message of messages) showHint(context, 'warning', message);
	const named = made.filter(({ item }) => item?.settings.files.fileName !== undefined);
	hintAtNames(context, named.flatMap(({ items }) => items).flatMap(shownOutputs));
}

/** @param named whether the failed items carry their input */
export function hintAtFailures(
	context: IExecuteFunctions,
	results: readonly ItemResult[],
	named: boolean,
): void {
	const { length: count } = failuresIn(results);
	if (count === 0) return;
	const which = named ? '' : "; the option 'Include Input' shows which";
	const where =
		context.getNode().onError === 'continueErrorOutput'
			? ' and went to the error branch'
			: `, see the field 'outcome'${which}`;
	showHint(context, 'warning', `${count} of ${results.length} items failed${where}`);
}

/** A node can't fail when it wakes, so a failed task needs a node after this one that fails for it. */
export function hintAtSleep(context: IExecuteFunctions): void {
	const { name, type, onError = 'stopWorkflow' } = context.getNode();
	if (onError !== 'stopWorkflow') return;
	quietly(() => {
		const following = context.getChildNodes(name, { includeNodeParameters: true });
		const waits = following.some(
			({ parameters, ...node }) =>
				node.type === type && !node.disabled && parameters?.operation === 'wait',
		);
		const what =
			'If a task fails while the execution sleeps, its item continues as a normal one: add a node with "Task: Wait"';
		if (!waits) showHint(context, 'warning', what);
	});
}
