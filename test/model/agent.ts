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
import { brokenRules, type Payment, type Run } from '../support/rules';
import { ownOf, saidOf } from '../support/said';
import {
	excuseOf,
	indexOf,
	isFailed,
	isForgetful,
	isFound,
	isSentAgain,
	shownBy,
	type World,
} from './rules';
import type { Sent } from './service';

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

/** What the rules are checked against. */
interface Told extends Omit<World, 'baseUrl'> {
	made: readonly Call[];
	stopped: boolean;
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
	const { machine, n8n, service, story, note } = stage;
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
		let kept: Record<string, unknown> = {};
		let version = 0;
		for (let round = 0; round <= history.retries.length && !stopped; round += 1) {
			version += Number(history.retries[round - 1]?.changed ?? false);
			// n8n saves it with the execution.
			kept = JSON.parse(JSON.stringify(kept)) as Record<string, unknown>;
			await work({ id: String(round + 1), version, kept, stop: new AbortController() });
			await machine.pause(5_000);
		}
		over = true;
	};
	const thrown = await stage.play(async () => {
		for (const { at, kind } of history.events)
			machine.later(at * 1000, () => {
				note(kind);
				if (kind === 'clock set back') machine.moveWall(-3_600_000);
				else stopped = true;
				if (kind === 'stop') n8n.stop();
			});
		void rounds();
		await machine.run(() => over);
	});
	if (thrown.length > 0) return { broken: thrown, story, spared: 0 };
	const tries = made.reduce((sum, { execution }) => sum + (execution?.tries ?? 0), 0);
	const told = { history, n8n, service, made, stopped };
	return {
		broken: brokenRules({
			payments: service.sent.map((sent, index) => paymentOf(told, sent, index)),
			runs: [...new Set(made.map(({ round }) => round))].map((round) => runOf(told, round)),
			shown: shownBy({ n8n, baseUrl: stage.hosts.baseUrl }),
			budgets: [],
		}),
		story,
		spared: Math.max(0, tries - service.sent.length),
	};
}

/** Of one text there are never more sendings that count than calls that have begun. */
function paymentOf(
	{ history, n8n, service, made, stopped }: Told,
	sent: Sent,
	index: number,
): Payment {
	const { slot, task, fate, named, answeredMs, executionId, atMs } = sent;
	const executions = made.flatMap(({ execution }) => execution ?? []);
	// A Retry can find what was unclear.
	const found = isFound({ executions }, sent);
	const mine = made.filter(({ round }) => found || round === executionId);
	// A call that a later try refuses does not say what an earlier one has sent, but the log does.
	const isTriedAgain = executions.some(({ tryBeganMs }) => tryBeganMs > atMs);
	const logged = isTriedAgain ? executions.flatMap(({ logs }) => logs) : [];
	const answers = [...mine.map(answerOf), ...logged].join('\n');
	const isTold = fate === 'told' || found;
	const isRead = answeredMs !== undefined && !isForgetful(history);
	const isUnclear = isRead && !isTold && fate === 'unclear' && !stopped && !named;
	// An equal task of somebody else, made after it was sent, can't be told from it.
	const isSaid = /may exist|may have created|"outcome":"unknown"|other-0-/.test(answers);
	return {
		wish: slot,
		asked: made.filter(
			({ text, beganMs, round }) =>
				text === indexOf(slot) && round === executionId && beganMs <= atMs,
		).length,
		before: service.sent
			.slice(0, index)
			.filter((first) => first.slot === slot)
			.map((first) => excuseOf({ history, n8n, service }, first, sent)),
		task: task && { id: task.id, isFailed: isFailed(service, task) },
		isKnown: isRead && (isTold || (named && !isSentAgain(history, sent))),
		log: isTold ? made.flatMap(({ execution }) => execution?.logs ?? []).join('\n') : undefined,
		end: stopped ? undefined : answers,
		doubt: isUnclear && !isSentAgain(history, sent) ? (isSaid ? 'said' : 'hidden') : undefined,
	};
}

/** What the agent reads of a call. */
function answerOf({ execution }: Call): string {
	if (execution === undefined || execution.status === 'canceled') return '';
	if (execution.status === 'success') return JSON.stringify(execution.output);
	const { message, description } = execution.error as Error & { description?: string };
	return `${message}\n${description}`;
}

/** The calls of an execution that went well: no two of them have the same task. */
function runOf({ service, made, history }: Told, round: string): Run {
	const good = made.flatMap((call) => {
		const { status, output = [] } = call.execution ?? {};
		const isGood = output.every(
			({ json }) => json.outcome === undefined && json.error === undefined,
		);
		return call.round === round && status === 'success' && isGood ? [{ ...call, output }] : [];
	});
	return {
		where: `execution ${round}`,
		kind: 'creates',
		inputs: good.map(({ text }) => ({
			wish: `i${text}`,
			said: saidOf({ json: {} }),
			waits: history.items[text]?.wait !== 'no',
			splits: true,
		})),
		outs: good.flatMap(({ output }, index) =>
			output.map((item) => ({ index, said: saidOf(item), own: ownOf(item) })),
		),
		taskOf: (id) => {
			const task = service.tasks.find((each) => each.id === id);
			return task && { wish: `i${indexOf(task.sent.slot)}`, status: service.stateOf(task) };
		},
	};
}
