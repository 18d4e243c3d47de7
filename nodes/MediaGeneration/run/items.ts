/** Runs all items of a run at once. */
import { inBackground } from '../n8n/log';
import { inPieces } from '../n8n/realClock';
import { sleepWhenPossible } from './asleep';
import { conclude } from './conclude';
import { expectEarlier } from './earlierTries';
import type { Item, ItemResult, Part, PartResult, RunningPart } from './item';
import { followTask, taskOf, withFiles } from './part';
import { haltAfter, orGivenUp, type Run } from './run';

/** Returns the results in order, once no item has anything under way. Never rejects. */
export async function runItems(
	run: Run,
	ready: ReadonlyArray<Item | ItemResult>,
): Promise<ItemResult[]> {
	const items = ready.filter((each) => each.kind === 'item');
	const stopExpecting = await inPieces(expectEarlier(run, items));
	const running = ready.map((each) => (each.kind === 'item' ? startItem(run, each) : each));
	const parts = running.flatMap((each) => (each.kind === 'running' ? each.parts : []));
	const allEnded = new AbortController();
	inBackground(run.context, sleepWhenPossible(run, parts, allEnded.signal));
	try {
		return await Promise.all(
			running.map(async (each) => (each.kind === 'running' ? await each.result : each)),
		);
	} finally {
		allEnded.abort();
		stopExpecting();
	}
}

interface RunningItem {
	kind: 'running';
	parts: RunningPart[];
	result: Promise<ItemResult>;
}

function startItem(run: Run, item: Item): RunningItem {
	const parts = item.parts.map((part) => startPart(run, item, part));
	const result = async () => {
		const ended = await Promise.all(parts.map(async (part) => await part.result));
		return haltAfter(run, item, await conclude(run.delivery, item, ended));
	};
	return { kind: 'running', parts, result: result() };
}

function startPart(run: Run, item: Item, part: Part): RunningPart {
	const slot = part.kind === 'creates' ? run.slots.take() : Promise.resolve(() => undefined);
	const made = slot.then(async () => await taskOf(run, item, part));
	const result = async (): Promise<PartResult> => {
		const followed = await followTask(run, item, { part, made: await made });
		const ended = haltAfter(run, item, orGivenUp(run, followed));
		// A failure has halted the run by now: the slot goes to no creation that would be paid for in vain.
		(await slot)();
		return haltAfter(
			run,
			item,
			await withFiles(run.delivery, ended, { ...item, number: part.slot.part }),
		);
	};
	return { item, made, result: result() };
}
