/** Runs all items of a run at once. */
import { cancelled } from '../answers/failures';
import { asFailed } from '../answers/verdict';
import { inBackground } from '../n8n/log';
import { inPieces } from '../n8n/realClock';
import { sleepWhenPossible } from './asleep';
import { conclude, continuesAfter, failureOf } from './conclude';
import { expectEarlier } from './earlierTries';
import type { Item, ItemResult, Part, PartResult, RunningPart } from './item';
import { followTask, taskOf, withFiles } from './part';
import type { Run } from './run';

/** Returns the results in order, once no item has anything under way. Never rejects. */
export async function runItems(
	run: Run,
	ready: ReadonlyArray<Item | ItemResult>,
): Promise<ItemResult[]> {
	const items = ready.filter((each) => each.kind === 'item');
	const stopExpecting = await inPieces(expectEarlier(run, items));
	const running = ready.map((each) =>
		each.kind === 'item' ? startItem(run, each) : { parts: [], result: Promise.resolve(each) },
	);
	const parts = running.flatMap((each) => each.parts);
	const allEnded = new AbortController();
	inBackground(run.context, sleepWhenPossible(run, parts, allEnded.signal));
	try {
		return await Promise.all(running.map(async (each) => await each.result));
	} finally {
		allEnded.abort();
		stopExpecting();
	}
}

function startItem(run: Run, item: Item) {
	const parts = item.parts.map((part) => startPart(run, item, part));
	const result = async (): Promise<ItemResult> => {
		const ended = await Promise.all(parts.map(async (part) => await part.result));
		return haltAfter(run, item, await conclude(run.delivery, item, ended));
	};
	return { parts, result: result() };
}

function startPart(run: Run, item: Item, part: Part): RunningPart {
	const turn = part.kind === 'creates' ? run.active.take() : Promise.resolve(() => undefined);
	const made = turn.then(async () => await taskOf(run, item, part));
	const result = async (): Promise<PartResult> => {
		const followed = await followTask(run, item, { part, made: await made });
		const ended = haltAfter(run, item, orGivenUp(run, followed));
		// A failure has halted the run by now: the next one creates nothing that would be paid for in vain.
		const endTurn = await turn;
		endTurn();
		const delivered = await withFiles(run.delivery, ended, { ...item, number: part.slot.part });
		return haltAfter(run, item, delivered);
	};
	return { item, made, result: result() };
}

/** Ends the run if a step has failed, unless failures become items or the item continues. */
function haltAfter<Result extends PartResult | ItemResult>(
	run: Pick<Run, 'halt'>,
	item: Item,
	result: Result,
): Result {
	const failure = failureOf(result);
	if (failure !== undefined && !continuesAfter(item, failure)) run.halt();
	return result;
}

/** What is given up because another item failed has no failure of its own. */
function orGivenUp(
	{ stop, runEnded }: Pick<Run, 'stop' | 'runEnded'>,
	result: PartResult,
): PartResult {
	const isOpen = result.kind === 'open' && runEnded.aborted;
	const ended = isOpen ? asFailed(cancelled(result.taskId, result.task?.status)) : result;
	const isCancelled = ended.kind === 'failed' && ended.failure.outcome === 'cancelled';
	if (!isCancelled || stop?.aborted === true) return ended;
	return { kind: 'halted', taskId: ended.failure.taskId };
}
