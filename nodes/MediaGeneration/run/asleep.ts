/** Puts the execution of a run to sleep, with what remains of each of its items. */
import type { INodeExecutionData } from 'n8n-workflow';
import type { ItemFields } from '../actions/fields';
import { carryInput } from '../items/itemJson';
import { unfinishedJson } from '../items/parts';
import { getOrCreate } from '../base/boundedMap';
import { cleanerOf } from '../n8n/clean';
import { timerLeftMs } from '../n8n/sleep';
import type { Waking } from '../suspend/checks';
import type { WaitingTask } from '../suspend/notes';
import { suspend, type SuspendedItem } from '../suspend/suspend';
import { broken } from '../answers/failures';
import { failedWith } from './conclude';
import { suspends, type ItemResult, type RunningPart } from './item';
import { hintAtSleep } from './hints';
import { includedInput, type Report } from './output';
import type { Run } from './run';

/** Ends the wait for the tasks that the execution can sleep on, after the grace period. */
export async function sleepWhenPossible(
	{ context, sleepSoon, sleep }: Pick<Run, 'context' | 'sleepSoon' | 'sleep'>,
	running: readonly RunningPart[],
	allEnded: AbortSignal,
): Promise<void> {
	const graces = running.flatMap(({ item: { settings } }) =>
		settings.waiting.kind === 'suspend' ? [settings.waiting.graceMs] : [],
	);
	if (graces.length === 0) return;
	// Each task that the execution can sleep on has to exist, and all others have to end.
	await Promise.all(
		running.map(async ({ item, made, result }) => (suspends(item) ? await made : await result)),
	);
	const graceMs = graces.reduce((one, other) => Math.max(one, other));
	await sleep(Math.max(graceMs, timerLeftMs(context)), allEnded);
	sleepSoon.abort();
}

/** Returns the node's output. A run that can't sleep ends, and its items fail with the IDs of their tasks. */
export async function goToSleep(
	{ context, client, spending }: Pick<Run, 'context' | 'client' | 'spending'>,
	report: Report,
	asleep: { results: readonly ItemResult[]; waking: Waking },
): Promise<INodeExecutionData[]> {
	const { results, waking } = asleep;
	report.sleeps(results, spending);
	hintAtSleep(context);
	const byItem = new Map<number, ItemResult[]>();
	for (const result of results) getOrCreate(byItem, result.index, () => []).push(result);
	const suspended = report.inputs.map((fields) =>
		suspendedItem(report, fields, { own: byItem.get(fields.itemIndex) ?? [], waking }),
	);
	try {
		return await suspend(context, client, { suspended, resumeUrl: waking.resumeUrl });
	} catch (error) {
		const awake = results.map((each) => {
			if (each.kind !== 'asleep') return each;
			const failure = broken(error, 'sent', each.taskIds[0]);
			return failedWith(failure, undefined, each);
		});
		return report.output(awake);
	}
}

function suspendedItem(
	report: Report,
	fields: ItemFields,
	{ own, waking }: { own: readonly ItemResult[]; waking: Waking },
): SuspendedItem {
	const asleep = own.find(({ kind }) => kind === 'asleep');
	if (asleep?.kind !== 'asleep')
		return { items: own.flatMap((each) => report.itemsOf(each)), waits: null };
	const { item, parts, taskIds } = asleep;
	const { assembly, settings } = item;
	const clean = cleanerOf(report.context);
	// The files of a part that is done are dropped, because they would stay in memory: waking fetches them again.
	const tasks = parts.map((part): WaitingTask => {
		// Workflows can read the notes, and a service shows a task with its receive URL.
		if (part.kind === 'done') return { ...part.watch, known: clean.value(part.task) };
		// The watch loop starts from nothing. Without this it would take a later 404 for a mistyped ID.
		const seen = part.watch.seen === true || part.task !== undefined;
		return { ...part.watch, seen, callsBack: part.receiveUrl === waking.resumeUrl };
	});
	const input = includedInput(fields);
	const json = unfinishedJson(assembly, taskIds, parts[0]?.task);
	const waits = { tasks, files: settings.files, carriesInput: input !== undefined };
	return { items: [carryInput({ json }, input)], waits };
}
