/** Says in the editor and the log what a run's items don't: what is paid for again, and what a person would notice only later. */
import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { recordIn } from '../files/nodeError';
import type { DeliveredOutput } from '../files/storedFile';
import { showEqualNames, shownOutputs } from '../files/hint';
import { quietly } from '../n8n/clean';
import { showHint, warn } from '../n8n/editor';
import { imageLimits } from '../actions/model';
import { isLongUnsplit, LONG_TEXT } from '../actions/refusal';
import { isOutcome } from '../base/outcomes';
import { itemsInWords, megabytes, quote } from '../base/words';
import { asText, isObject, sumOf } from '../base/json';
import { hintAtEarlierTests } from './earlierTests';
import { leftOf, type Item, type ItemResult, type Planned } from './item';
import type { Run } from './run';

/** The option sends a creation again if its answer never came and the service's list does not show its task. */
function warnOfRepeats(run: Run, items: readonly Item[]): void {
	const unclear = items.filter(
		(item) =>
			item.settings.sendUnclearAgain &&
			leftOf(run, item).some((kind) => kind === 'unclear' || kind === 'unrecorded'),
	);
	if (unclear.length === 0) return;
	const which = itemsInWords(unclear.map(({ index }) => index));
	const why = 'no answer came the first time, and it is sent again unless it is found';
	warn(run.context, `May be paid for twice: ${which}; ${why}`);
}

const USABLE: readonly unknown[] = ['timed_out', 'unreachable', 'undelivered', 'cancelled'];

/** Lists the paid tasks that can still be used of an item that failed or timed out in an earlier node. */
function usableTasksOf(json: IDataObject): string[] {
	const { outcome, task_id, task_ids, unfinished } = recordIn(json);
	const isUsable = isOutcome(outcome) ? USABLE.includes(outcome) : unfinished === true;
	return isUsable ? [task_ids ?? task_id].flat().flatMap((each) => asText(each) ?? []) : [];
}

/** A creation makes a new task, as asked, even if its input has a paid one. */
function warnOfPaidInput(run: Run, items: readonly Item[]): void {
	const input = run.context.getInputData();
	const paid = items.flatMap((item) => {
		const usable = usableTasksOf(input[item.index]?.json ?? {});
		if (usable.length === 0) return [];
		const isNew = leftOf(run, item).some((kind) => kind !== 'created' && kind !== 'unread');
		return isNew ? usable : [];
	});
	if (paid.length === 0) return;
	const which = [...new Set(paid)].join(', ');
	warn(
		run.context,
		`Paid for again, though "Task: Wait" can fetch the tasks of the input: ${which}`,
	);
}

function showLongTexts(context: IExecuteFunctions, items: readonly Item[]): void {
	const long = items.filter(
		({ assembly: { longText }, parts: [part] }) =>
			part?.kind === 'creates' && isLongUnsplit(part.request, longText),
	);
	if (long.length === 0) return;
	const texts = long.length === 1 ? '1 text has' : `${long.length} texts have`;
	const message = `${texts} more than ${LONG_TEXT} characters: 'Long Text' splits and joins such texts`;
	showHint(context, 'info', message);
}

/** So many parts of texts are expensive, and may come from a mistyped length. */
const MANY_PARTS = 100;

function warnOfManyParts(context: IExecuteFunctions, items: readonly Item[]): void {
	const split = items.filter(({ assembly: { longText } }) => longText.kind !== 'off');
	const parts = sumOf(split.map((item) => item.parts.length));
	if (parts < MANY_PARTS || split.some(({ parts: [first] }) => first?.kind !== 'creates')) return;
	const what = `${parts} tasks for ${split.length === 1 ? '1 text' : `${split.length} texts`}: a larger 'Max Characters per Part' makes fewer`;
	warn(context, what);
}

/** A task that waits for a slot keeps the execution awake, and a restart of n8n would end it. */
function warnOfSlots({ context, maxActiveTasks }: Run, items: readonly Item[]): void {
	const sleeping = items.filter(({ settings }) => settings.waiting.kind === 'suspend');
	const created = sleeping.flatMap(({ parts }) => parts.filter(({ kind }) => kind === 'creates'));
	const waiting = created.length - maxActiveTasks;
	if (waiting <= 0) return;
	const what = `${created.length} tasks, ${maxActiveTasks} at a time ('Max Active Tasks')`;
	warn(context, `${what}: the execution stays awake until ${waiting} have finished`);
}

/** A known limit may have changed, so that the service decides. */
function showLargeFiles(context: IExecuteFunctions, items: readonly Item[]): void {
	const [large] = items.flatMap(({ parts }) =>
		parts.flatMap((part) => {
			if (part.kind === 'awaits') return [];
			const { usualFileMb: most = Infinity, files = [] } = part.request;
			return files
				.filter(({ size }) => size > most * 1_000_000)
				.map((file) => ({ most, name: quote(file.name, 40), has: megabytes(file.size) }));
		}),
	);
	if (large === undefined) return;
	const message = `${large.name} has ${large.has}: services usually take at most ${large.most} MB here`;
	showHint(context, 'warning', message);
}

/** Call this before anything is created. */
export function hintAtItems(run: Run, ready: Planned<Item>): void {
	const items = ready.filter((each) => each.kind === 'item');
	hintAtEarlierTests(run, items);
	warnOfManyParts(run.context, items);
	warnOfSlots(run, items);
	warnOfRepeats(run, items);
	warnOfPaidInput(run, items);
	showLongTexts(run.context, items);
	showLargeFiles(run.context, items);
}

interface Shortfall {
	model: unknown;
	what: string;
}

/** Tells of a task that made fewer images than were asked for. */
function shortfallOf({ parts: [part] }: Item, files: DeliveredOutput[]): Shortfall[] {
	if (part?.kind !== 'creates' || part.request.kind !== 'image') return [];
	const { model_id: model, generations_count: count } = part.request.body;
	const asked = Number(count ?? 1);
	const made = files.filter(({ kind }) => kind === 'image').length;
	return made > 0 && made < asked
		? [{ model, what: `The service made ${made} of ${asked} images` }]
		: [];
}

async function showShortfalls({ context, client, stop }: Run, all: Shortfall[]): Promise<void> {
	if (all.length === 0) return;
	const limits = await imageLimits({ client, signal: stop });
	for (const { model, what } of all) {
		const most = limits.get(asText(model) ?? '');
		const limit = most === undefined ? '' : `: the model makes at most ${most} per task`;
		showHint(context, 'warning', `${what}${limit}`);
	}
}

/** Call this after the run. */
export async function hintAtFiles(run: Run, results: readonly ItemResult[]): Promise<void> {
	const { context } = run;
	const shortfalls: Shortfall[] = [];
	const named = results.flatMap((result) => {
		const { item } = result;
		if (item === undefined || result.kind !== 'items') return [];
		const files = result.items.flatMap(shownOutputs);
		for (const each of shortfallOf(item, files)) shortfalls.push(each);
		return item.settings.files.fileName === undefined ? [] : files;
	});
	await showShortfalls(run, shortfalls);
	showEqualNames(context, named);
	const made = results.flatMap((result) => (result.kind === 'items' ? result.items : []));
	if (
		made.some(
			({ json }) => isObject(json.metadata) && json.metadata.replacement_status === 'failed',
		)
	)
		showHint(context, 'warning', 'A dubbing was made, but its second voice failed at the service');
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
