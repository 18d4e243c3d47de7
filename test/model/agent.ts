/**
 * Histories of an AI agent whose tool is the node: it calls with equal and with different texts, at once or one after the other, and each
 * call has tries of its own. Afterwards no call was paid for twice, no task is lost, and no two calls were given the same task.
 */
import fc from 'fast-check';
import { fieldsOf } from './fields';
import { histories, type Drawn, type History } from './history';
import type { Execution } from './n8n';
import { Stage } from './play';
import type { Process } from './processes';
import { indexOf, isFailed, isForgetful, isFound, keyElsewhere } from './rules';
import type { Sent, Service } from './service';

export const agentHistories = fc.record({
	/** Its items are the texts that the agent has in mind. Each of its Retries follows a model that fails when all calls are over. */
	history: histories.map((history): History => ({
		...history,
		// An agent has no node before its tool that its Retry begins with.
		node: { ...history.node, before: 'runs' },
		events: history.events.filter(({ kind }) => kind === 'stop' || kind === 'clock set back'),
	})),
	/** Who runs the tool: the engine does so for newer agents, one call after the other. */
	by: fc.constantFrom('the agent' as const, 'the engine' as const),
	/** Whether the model gives all calls the same ID. */
	sameIds: fc.boolean(),
	/** Which text each call says, and how many seconds after the one before it is made; -1: when that one is over. */
	calls: fc.array(
		fc.record({ text: fc.nat(1), after: fc.constantFrom<number>(-1, -1, 0, 0, 0.1, 1.5, 20) }),
		{ minLength: 1, maxLength: 4 },
	),
});
export type AgentHistory = Drawn<typeof agentHistories>;

interface Call {
	text: number;
	/** Of its execution. */
	round: string;
	beganMs: number;
	execution: Execution | undefined;
}

/** Plays a history to its end. @returns the rules that it broke, in words, what happened, and how many tries took up what was there */
export async function playAgent(
	{ history, by, sameIds, calls }: AgentHistory,
	processes: readonly Process[],
): Promise<{ broken: string[]; story: string[]; spared: number }> {
	const textOf = (call: number) => (calls[call]?.text ?? 0) % history.items.length;
	const fields = (call: number, salt: string) => fieldsOf(history, textOf(call), salt);
	// Retry runs the agent again, and with it all its calls.
	const stage = new Stage({ ...history, retries: [] }, processes, { fields, asTool: true });
	const { machine, n8n, service, baseUrl, story, note } = stage;
	const made: Call[] = [];
	let stopped = false;
	let over = false;
	const make = async (index: number, agent: Partial<Execution> & { id: string }) => {
		if (stopped) return;
		const { id: round } = agent;
		const call: Call = {
			text: textOf(index),
			round,
			beganMs: machine.elapsed,
			execution: undefined,
		};
		made.push(call);
		note(`call ${index} of execution ${round}, of text ${call.text}`);
		const id = sameIds ? 'call' : `call:${round}_${index}`;
		const tool = { index, id: by === 'the engine' ? id : undefined };
		call.execution = await n8n.callAsTool(tool, agent);
	};
	const work = async (agent: Partial<Execution> & { id: string }) => {
		const underWay: Array<Promise<void>> = [];
		for (const [index, { after }] of calls.entries()) {
			if (after < 0 || by === 'the engine') await Promise.all(underWay);
			else await machine.pause(after * 1000);
			underWay.push(make(index, agent));
		}
		await Promise.all(underWay);
	};
	const rounds = async () => {
		let context: Record<string, unknown> = {};
		let version = 0;
		for (let round = 0; round <= history.retries.length && !stopped; round += 1) {
			version += Number(history.retries[round - 1]?.changed ?? false);
			// n8n saves it with the execution.
			context = JSON.parse(JSON.stringify(context)) as Record<string, unknown>;
			await work({ id: String(round + 1), version, context, stop: new AbortController() });
			await machine.pause(5_000);
		}
		over = true;
	};
	const thrown = await stage.play(async () => {
		for (const { at, kind } of history.events)
			machine.later(at * 1000, () => {
				note(kind);
				if (kind === 'clock set back') machine.wallOffset -= 3_600_000;
				else stopped = true;
				if (kind === 'stop') n8n.stop();
			});
		void rounds();
		await machine.run(() => over);
	});
	if (thrown.length > 0) return { broken: thrown, story, spared: 0 };
	const tries = made.reduce((sum, { execution }) => sum + (execution?.tries ?? 0), 0);
	return {
		broken: [
			...paidTwice(history, service, made),
			...lost(history, service, { made, stopped }),
			...given(made),
			...keyElsewhere({ n8n, baseUrl }),
		],
		story,
		spared: Math.max(0, tries - service.sent.length),
	};
}

/** Of one text there are never more sendings that count than calls that have begun. */
function paidTwice(history: History, service: Service, made: readonly Call[]): string[] {
	const executions = made.flatMap(({ execution }) => execution ?? []);
	/** Whether it is known that a task has failed: then the next call pays again. */
	const isOver = (sent: Sent, atMs: number) =>
		sent.task !== undefined &&
		isFailed(service, sent.task, atMs) &&
		(sent.fate === 'told' || isFound({ executions }, sent));
	return service.sent.flatMap((sent, index) => {
		const { slot, atMs, executionId } = sent;
		const item = indexOf(slot);
		const calls = made.filter(
			({ text, beganMs, round }) => text === item && round === executionId && beganMs <= atMs,
		).length;
		const counting = service.sent
			.slice(0, index)
			.filter((each) => each.slot === slot && !isOver(each, atMs) && counts(history, each, sent));
		return counting.length < calls
			? []
			: [`PAID TWICE: ${slot} was sent for ${calls} calls, after ${counting.length} that count`];
	});
}

/** Whether a sending before another one of the same text is one that an equal call has or takes up. */
function counts(history: History, before: Sent, sent: Sent): boolean {
	if (before.fate === 'free' || isSentAgain(history, before)) return false;
	// n8n's Retry takes up equal requests.
	return before.executionId === sent.executionId || before.text === sent.text;
}

/** The user allows the machine to pay for it twice. */
const isSentAgain = ({ node }: History, { fate, named }: Sent) =>
	node.sendsAgain && fate === 'unclear' && !named;

/** What the agent reads of a call. */
function answerOf({ execution }: Call): string {
	if (execution === undefined || execution.status === 'canceled') return '';
	if (execution.status === 'success') return JSON.stringify(execution.output);
	const { message, description } = execution.error as Error & { description?: string };
	return `${message}\n${description}`;
}

/** Each task is in the log and, unless it failed, in what the agent reads; of what is unclear it reads that it is. */
function lost(
	history: History,
	service: Service,
	{ made, stopped }: { made: readonly Call[]; stopped: boolean },
): string[] {
	const logs = made.flatMap(({ execution }) => execution?.logs ?? []);
	const executions = made.flatMap(({ execution }) => execution ?? []);
	return service.sent.flatMap((sent) => {
		const { slot, fate, task, named, answeredMs, executionId } = sent;
		if (answeredMs === undefined || isForgetful(history)) return [];
		// A Retry can find what was unclear.
		const found = isFound({ executions }, sent);
		const mine = made.filter(({ round }) => found || round === executionId);
		const answers = mine.map(answerOf).join('\n');
		if ((fate === 'told' || found) && task !== undefined) {
			const isLogged = logs.some((line) => line.includes(task.id));
			const isSaid = stopped || isFailed(service, task) || answers.includes(task.id);
			return [
				...(isLogged ? [] : [`LOST: task ${task.id} is in no log`]),
				...(isSaid ? [] : [`LOST: no call names task ${task.id}`]),
			];
		}
		if (fate !== 'unclear' || stopped || isSentAgain(history, sent)) return [];
		const says =
			named && task !== undefined
				? isFailed(service, task) || answers.includes(task.id)
				: // An equal task of somebody else, made after it was sent, can't be told from it.
					/may exist|may have created|"outcome":"unknown"|other-0-/.test(answers);
		return says ? [] : [`LOST: no call says that ${slot} is unclear`];
	});
}

/** Two calls that went well are two tasks. */
function given(made: readonly Call[]): string[] {
	const ids = made.flatMap(({ execution, round }) => {
		const id = execution?.status === 'success' ? taskIdsOf(execution) : '';
		return id === '' ? [] : [`${id} in execution ${round}`];
	});
	return ids.flatMap((id, index) =>
		ids.indexOf(id) === index ? [] : [`TWICE: two calls were given ${id}`],
	);
}

/** The tasks of a call that went well, as a text. Empty where it did not, or not with every file. */
function taskIdsOf({ output = [] }: Execution): string {
	if (output.some(({ json }) => json.outcome !== undefined || json.error !== undefined)) return '';
	return [
		...new Set(output.map(({ json }) => JSON.stringify(json.task_ids ?? json.task_id))),
	].join();
}
