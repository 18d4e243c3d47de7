/**
 * Remembers for an hour what manual runs made in this process. Whoever corrects one row and executes the step again pays for all rows
 * again, as asked: a hint names the tasks that exist already.
 */
import { BoundedMap } from '../base/boundedMap';
import { showHint } from '../n8n/editor';
import { logOf } from '../n8n/log';
import { partsToCreate, type Item, type ItemResult } from './item';
import type { Run } from './run';

interface TestRun {
	executionId: string;
	taskIds: readonly string[];
	/** Epoch ms. */
	at: number;
}

const REMEMBERED_MS = 60 * 60_000;
/** The log has all of them. */
const IDS_SHOWN = 10;

/** Keyed by the node and an item's requests. */
const testRuns = new BoundedMap<string, TestRun>();

type TestDeps = Pick<Run, 'context' | 'ledger' | 'now'>;

const isManual = ({ context }: TestDeps) => context.getMode() === 'manual';

/** Identifies what an item asks for; undefined if it creates nothing. */
function keyFor({ context }: TestDeps, item: Item): string | undefined {
	const hashes = partsToCreate(item).map(({ hash }) => hash);
	if (hashes.length === 0) return undefined;
	return [context.getWorkflow().id, context.getNode().id, ...hashes].join(' ');
}

/** Call this before anything is created. */
export function hintAtEarlierTests(run: TestDeps, items: readonly Item[]): void {
	const { context, ledger } = run;
	if (!isManual(run)) return;
	const paid = items.flatMap((item) => {
		const earlier = testRuns.get(keyFor(run, item) ?? '');
		if (earlier === undefined || earlier.executionId === ledger.run.executionId) return [];
		return run.now() - earlier.at < REMEMBERED_MS ? earlier.taskIds : [];
	});
	if (paid.length === 0) return;
	const [tasks, them] =
		paid.length === 1 ? ['1 task was', 'it'] : [`${paid.length} tasks were`, 'them'];
	const said = `${tasks} paid for in an earlier test run: execute only the step after this one, or fetch ${them} with "Task: Wait":`;
	const more = paid.length > IDS_SHOWN ? ', ...' : '';
	showHint(context, 'warning', `${said} ${paid.slice(0, IDS_SHOWN).join(', ')}${more}`);
	logOf(context).warn(`${said} ${paid.join(', ')}`);
}

/** Call this after the run. */
export function rememberTests(run: TestDeps, results: readonly ItemResult[]): void {
	if (!isManual(run)) return;
	const { executionId } = run.ledger.run;
	for (const result of results) {
		const key = result.item && keyFor(run, result.item);
		const isLost = result.kind === 'failed' && result.failure.outcome === 'failed';
		if (key === undefined || isLost || result.taskIds.length === 0) continue;
		testRuns.set(key, { executionId, taskIds: result.taskIds, at: run.now() });
	}
}
