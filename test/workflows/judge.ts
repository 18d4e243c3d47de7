/**
 * The judge of a case. It knows nothing of the nodes' code: only the contract, the stand-in's books, in which each task has the tag of
 * its item, and the executions as n8n has saved them.
 */
import type { TaskRecord } from '../service';
import { BEFORE_ANSWER_MS } from '../service/creation';
import type { Item } from '../n8n/harness/execution';
import { type MediaNode, nameOf, tag, tagOf } from './case';
import {
	type Evidence,
	inputOf,
	outputsOf,
	resumeTokenOf,
	type Run,
	runsOf,
	type Saved,
} from './evidence';
import { wrongFiles } from './files';
import { isEmpty, saidOf } from './items';
import { paidTwice, spentTooMuch } from './money';

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
			.filter((line) => /\bpaid\b.*\bNew ones are created/.test(line))
			.join('\n'),
		byId: new Map(tasks.map((task) => [task.id, task])),
		tagOf: ({ body }) => tagOf(body.text ?? body.prompt),
	};
}

/** All that is wrong, in words; empty where the case went well. */
export async function judge(evidence: Evidence, download: Download): Promise<string[]> {
	const books = booksOf(evidence);
	const wrong = evidence.unfinished.map((which) => `execution ${which} is not over`);
	for (const execution of evidence.executions) {
		if (execution.status === 'crashed') continue;
		for (const node of execution.plan.media)
			for (const [number, run] of runsOf(execution, node.name).entries()) {
				const where = `execution ${execution.id}, ${node.name}, run ${number}`;
				const found = [
					...(node.kind === 'creates' ? ofCreating(books, execution, node, { run, number }) : []),
					...(node.kind === 'waits' ? ofWaiting(books, execution, node, run) : []),
					...(await wrongFiles(books, evidence, run, download)),
				];
				wrong.push(...found.map((words) => `${where}: ${words}`));
			}
		if (execution.status === 'success') wrong.push(...dropped(execution));
	}
	wrong.push(...unnamed(evidence, books), ...leaked(evidence));
	wrong.push(...paidTwice(evidence, books), ...spentTooMuch(evidence, books));
	return wrong;
}

export type Download = (entry: { id?: string; data?: string; mimeType: string }) => Promise<Buffer>;

const short = (value: unknown) => JSON.stringify(value).slice(0, 400);

/** After a crash n8n puts an item of its own in the place of a run that it had not saved, and a Retry keeps it (`ExecutionRecoveryService`, n8n 2.41). */
const isMadeUp = ({ data }: Run) =>
	data?.main?.[0]?.[0]?.json.isArtificialRecoveredEventItem === true;

/** A run whose items can be judged: it has ended without an error of the whole. */
const hasEnded = (run: Run) =>
	run.executionStatus === 'success' && run.data !== undefined && !isMadeUp(run);

function inputsOf(execution: Saved, node: MediaNode, run: Run) {
	const inputs = inputOf(execution, node.name, run);
	return node.executeOnce ? inputs.slice(0, 1) : inputs;
}

/** Each item of a creating node comes out of it as its own task's result or as a failure. */
function ofCreating(
	books: Books,
	execution: Saved,
	node: MediaNode,
	{ run, number }: { run: Run; number: number },
): string[] {
	const inputs = inputsOf(execution, node, run);
	const tagFor = ({ json }: Item) => tag(nameOf(json), node.name, number);
	const wrong = unannounced(books, inputs, { tagFor, hints: run.hints });
	if (!hasEnded(run)) return wrong;
	const outputs = outputsOf(run).filter(({ item }) => !isEmpty(item));
	const counts = inputs.map(() => 0);
	const owners = new Map<string, number>();
	for (const { item, index } of outputs) {
		const input = index === undefined ? undefined : inputs[index];
		if (index === undefined || input === undefined) {
			wrong.push(`an item belongs to no input: ${short(item.json)}`);
			continue;
		}
		counts[index] = (counts[index] ?? 0) + 1;
		const { end, taskIds } = saidOf(item);
		if (end === 'nothing' || (end === 'left' && node.waits))
			wrong.push(`item ${index} left as it came, or unfinished: ${short(item.json)}`);
		for (const id of taskIds) {
			const task = books.byId.get(id);
			const own = tagFor(input);
			if (task === undefined)
				wrong.push(`item ${index} names a task that is not in the books: ${id}`);
			else if (books.tagOf(task) !== own)
				wrong.push(
					`item ${index} (${own}) has the task of ${books.tagOf(task)}: ${short(item.json)}`,
				);
			if ((owners.get(id) ?? index) !== index)
				wrong.push(`items ${index} and ${owners.get(id)} have one task: ${id}`);
			owners.set(id, index);
		}
	}
	for (const [index, count] of counts.entries())
		if (count === 0 || (count > 1 && !node.splits))
			wrong.push(`item ${index} came out ${count} times`);
	return wrong;
}

/**
 * A paid task that an item brings along is named where another one is made for it: in a hint, or, where it is too short for all of
 * them or n8n has dropped it while the node slept, in the log.
 */
function unannounced(
	books: Books,
	inputs: ReturnType<typeof inputOf>,
	{ tagFor, hints = [] }: { tagFor: (input: Item) => string; hints: Run['hints'] },
): string[] {
	const words = JSON.stringify(hints) + books.warnings;
	const made = new Set(books.tasks.map((task) => books.tagOf(task)));
	return inputs.flatMap((input) => {
		const { isUsable, taskIds } = saidOf(input);
		const isNamed = taskIds.some((id) => words.includes(id));
		return isUsable && made.has(tagFor(input)) && !isNamed
			? [`no hint names the paid task ${taskIds.join(', ')} that its input carries`]
			: [];
	});
}

/** Each item of a "Task: Wait" comes out as the task that it names, or as the failure that it is. */
function ofWaiting(books: Books, execution: Saved, node: MediaNode, run: Run): string[] {
	if (!hasEnded(run)) return [];
	const inputs = inputsOf(execution, node, run);
	const wrong: string[] = [];
	for (const { item, index } of outputsOf(run)) {
		if (isEmpty(item)) continue;
		const input = index === undefined ? undefined : inputs[index];
		if (input === undefined) {
			wrong.push(`an item belongs to no input: ${short(item.json)}`);
			continue;
		}
		const [came, went] = [saidOf(input), saidOf(item)];
		if (went.end === 'nothing' || went.end === 'left')
			wrong.push(`item ${index} left as it came, or unfinished: ${short(item.json)}`);
		const isOver = came.outcome !== undefined && !came.isUsable;
		if (isOver && (went.end !== 'failed' || went.outcome !== came.outcome))
			wrong.push(
				`item ${index} came as "${came.outcome}" and left as "${went.outcome ?? went.end}": ${short(item.json)}`,
			);
		const foreign = went.taskIds.filter((id) => !came.taskIds.includes(id));
		if (foreign.length > 0)
			wrong.push(`item ${index} left with the task ${foreign.join(', ')}: ${short(item.json)}`);
		if (went.end === 'done' && went.taskIds.some((id) => books.byId.get(id)?.status !== 'done'))
			wrong.push(`item ${index} is done, but its task is not`);
	}
	return wrong;
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

/** What n8n has read or logged within this time before it was killed may be lost with it. A creation's answer can come later than its task. */
const LOST_WITH_N8N_MS = 3_000;

/** Each task that was paid for is named in an output, an error or the log. */
function unnamed({ executions, log, played, killedAt }: Evidence, books: Books): string[] {
	const results = executions.map(({ resultData }) => JSON.stringify(resultData)).join('\n');
	const isLate = played.service.callbacks?.beforeCreationAnswer === true;
	const lostMs = LOST_WITH_N8N_MS + (isLate ? BEFORE_ANSWER_MS : 0);
	const cutOff = ({ createdAt }: TaskRecord) =>
		killedAt.some((at) => createdAt > at - lostMs && createdAt <= at);
	return books.tasks
		.filter((task) => !cutOff(task))
		.filter(({ id, refunded }) => !refunded && !books.unclear.has(id))
		.filter(({ id }) => !results.includes(id) && !log.includes(id))
		.map((task) => `the task ${task.id} of ${books.tagOf(task)} is named nowhere`);
}

/** No key, secret or signature is in anything that n8n has saved; its own token apart. */
function leaked({ executions, secrets, log }: Evidence): string[] {
	const texts = executions.map((execution) => ({
		where: `execution ${execution.id}`,
		text: execution.raw,
		token: resumeTokenOf(execution),
	}));
	const inLog = { where: 'the log', text: log, token: undefined };
	return [...texts, inLog].flatMap(({ where, text, token }) => {
		const found = secrets.filter((secret) => text.includes(secret));
		const strings = token === undefined ? [] : stringsIn(text);
		const withToken = strings.filter((each) => each !== token && each.includes(token ?? ''));
		const signature = /signature=[\w-]{16,}/.exec(text)?.[0];
		return [...found, ...withToken, ...(signature === undefined ? [] : [signature])].map(
			(secret) => `${where} holds ${secret.slice(0, 1000)}`,
		);
	});
}

/** A flatted text is a list in which every string stands once. */
function stringsIn(text: string): string[] {
	return (JSON.parse(text) as unknown[]).filter((each) => typeof each === 'string');
}
