/**
 * The judge of a case. It knows nothing of the nodes' code: only the contract, the stand-in's books, in which each task has the tag of
 * its item, and the executions as n8n has saved them.
 */
import type { NodeRun } from '../n8n/harness/execution';
import type { TaskRecord } from '../service';
import { brokenRules, type Run } from '../support/rules';
import { indexOf, isEmpty, ownOf, saidOf } from '../support/said';
import { type MediaNode, nameOf, tag, tagOf } from './case';
import { type Evidence, inputOf, outputsOf, resumeTokenOf, runsOf, type Saved } from './evidence';
import { wrongFiles } from './files';
import { budgetsOf, paymentsOf } from './money';

export interface Books {
	tasks: readonly TaskRecord[];
	byId: ReadonlyMap<string, TaskRecord>;
	/** Tasks whose creation had no clear answer: nobody may know their IDs. */
	unclear: ReadonlySet<string | null>;
	/** The log's lines that say that something is paid again. */
	warnings: string;
	tagOf(task: TaskRecord): string;
}

export function booksOf({ service, log }: Evidence): Books {
	const { tasks, requests } = service;
	const faulty = requests.filter(({ route, fault }) => route === 'create' && fault !== null);
	return {
		tasks,
		unclear: new Set(faulty.map(({ taskId }) => taskId)),
		warnings: log
			.split('\n')
			.filter((line) => /\bPaid for again, though\b/.test(line))
			.join('\n'),
		byId: new Map(tasks.map((task) => [task.id, task])),
		tagOf: ({ body }) => tagOf(body.text ?? body.prompt),
	};
}

/** All that is wrong, in words; empty where the case went well. */
export async function judge(evidence: Evidence, download: Download): Promise<string[]> {
	const books = booksOf(evidence);
	const wrong = evidence.unfinished.map((which) => `execution ${which} is not over`);
	const runs: Run[] = [];
	for (const execution of evidence.executions) {
		if (execution.status === 'crashed') continue;
		for (const node of execution.plan.media)
			for (const [number, run] of runsOf(execution, node.name).entries()) {
				const where = `execution ${execution.id}, ${node.name}, run ${number}`;
				const ran = { execution, node, run, number, where };
				if (node.kind !== 'tool' && hasEnded(run)) runs.push(ranOf(books, ran));
				const found = [
					...(node.kind === 'creates' ? unannounced(books, ran) : []),
					...(await wrongFiles(books, evidence, run, download)),
				];
				wrong.push(...found.map((words) => `${where}: ${words}`));
			}
		if (execution.status === 'success') wrong.push(...dropped(execution));
	}
	const payments = paymentsOf(evidence, books);
	const budgets = budgetsOf(evidence, books);
	return [...wrong, ...brokenRules({ payments, runs, budgets, shown: shownBy(evidence) })];
}

export type Download = (entry: { id?: string; data?: string; mimeType: string }) => Promise<Buffer>;

/** After a crash n8n puts an item of its own in the place of a run that it had not saved, and a Retry keeps it (`ExecutionRecoveryService`, n8n 2.41). */
const isMadeUp = ({ data }: NodeRun) =>
	data?.main?.[0]?.[0]?.json.isArtificialRecoveredEventItem === true;

/** A run whose items can be judged: it has ended without an error of the whole. */
const hasEnded = (run: NodeRun) =>
	run.executionStatus === 'success' && run.data !== undefined && !isMadeUp(run);

interface One {
	execution: Saved;
	node: MediaNode;
	run: NodeRun;
	/** Of the run, within the execution. */
	number: number;
	where: string;
}

function ranOf(books: Books, { execution, node, run, number, where }: One): Run {
	const { name, waits, splits } = node;
	// n8n's Retry keeps the run in which the killed execution slept, and passes its items on in a further one.
	const replaced = runsOf(execution, name)
		.slice(0, number)
		.map((each) => !hasEnded(each));
	const ofThisRun = (wish: string) =>
		wish.replace(/ (\d+)>$/, (own, of: string) => (replaced[Number(of)] ? ` ${number}>` : own));
	return {
		where,
		kind: node.kind === 'waits' ? 'waits' : 'creates',
		isStopped: execution.status === 'canceled',
		inputs: inputOf(execution, node, run).map((item) => {
			const wish = tag(nameOf(item.json), name, number);
			return { wish, said: saidOf(item), waits, splits };
		}),
		outs: outputsOf(run)
			.filter((item) => !isEmpty(item))
			.map((item) => ({
				index: indexOf(item.pairedItem),
				said: saidOf(item),
				own: ownOf(item),
			})),
		taskOf: (id) => {
			const task = books.byId.get(id);
			return task && { wish: ofThisRun(books.tagOf(task)), status: task.status };
		},
	};
}

/**
 * A paid task that an item brings along is named where another one is made for it: in a hint, or, where it is too short for all of
 * them or n8n has dropped it while the node slept, in the log.
 */
function unannounced(books: Books, { execution, node, run, number }: One): string[] {
	const words = JSON.stringify(run.hints ?? []) + books.warnings;
	const made = new Set(books.tasks.map((task) => books.tagOf(task)));
	return inputOf(execution, node, run).flatMap((input) => {
		const { isUsable, taskIds } = saidOf(input);
		const isNamed = taskIds.some((id) => words.includes(id));
		return isUsable && made.has(tag(nameOf(input.json), node.name, number)) && !isNamed
			? [`no hint names the paid task ${taskIds.join(', ')} that its input carries`]
			: [];
	});
}

/** What leads into one of our nodes gets there. */
function dropped(execution: Saved): string[] {
	const { graph, media } = execution.plan;
	return media.flatMap(({ name, kind }) => {
		if (kind === 'tool') return [];
		const came = new Set(
			runsOf(execution, name).map(({ source }) => {
				const [from] = source ?? [];
				return `${from?.previousNode} ${from?.previousNodeOutput ?? 0} ${from?.previousNodeRun ?? 0}`;
			}),
		);
		return graph.into(name).flatMap(({ node, output }) =>
			runsOf(execution, node).flatMap((run, number) => {
				const count = run.data?.main?.[output]?.length ?? 0;
				return count === 0 || isMadeUp(run) || came.has(`${node} ${output} ${number}`)
					? []
					: [`execution ${execution.id}: ${count} items of ${node} never came to ${name}`];
			}),
		);
	});
}

/** No key, secret or signature is in anything that n8n has saved; its own token apart. */
function shownBy({ executions, secrets, log }: Evidence) {
	const texts = executions.map((execution) => {
		const { id, raw } = execution;
		const token = resumeTokenOf(execution);
		const withToken =
			token === undefined
				? []
				: stringsIn(raw).filter((each) => each !== token && each.includes(token));
		return { where: `execution ${id}`, text: raw, withToken };
	});
	return [...texts, { where: 'the log', text: log, withToken: [] }].map(
		({ where, text, withToken }) => {
			const signature = /signature=[\w-]{16,}/.exec(text)?.[0] ?? [];
			return { where, text, secrets: [...secrets, ...withToken, signature].flat() };
		},
	);
}

/** A flatted text is a list in which every string stands once. */
function stringsIn(text: string): string[] {
	return (JSON.parse(text) as unknown[]).filter((each) => typeof each === 'string');
}
