/**
 * Histories of an AI agent whose tool is the node: it calls with equal and with different texts, at once or one after the other, and each
 * call has tries of its own. Afterwards no call was paid for twice, no task is lost, and no two calls were given the same task.
 */
import fc from 'fast-check';
import { fieldsOf } from './fields';
import { FileHost, Store } from './files';
import { histories, type History } from './history';
import { Machine } from './machine';
import { N8n, type Execution, type Surroundings } from './n8n';
import type { Process } from './processes';
import { indexOf, isFailed, isFound, keyElsewhere } from './rules';
import { Service } from './service';

export interface AgentHistory {
	/** Its items are the texts that the agent has in mind. */
	history: History;
	/** Which text each call says, and how many seconds after the one before it is made; -1: when that one is over. */
	calls: Array<{ text: number; after: number }>;
}

export const agentHistories: fc.Arbitrary<AgentHistory> = fc.record({
	history: histories.map((history) => ({
		...history,
		events: history.events.filter(({ kind }) => kind === 'stop' || kind === 'clock set back'),
		retries: [],
	})),
	calls: fc.array(
		fc.record({ text: fc.nat(1), after: fc.constantFrom(-1, -1, 0, 0, 0.1, 1.5, 20) }),
		{ minLength: 1, maxLength: 4 },
	),
});

interface Call {
	text: number;
	beganMs: number;
	execution: Execution | undefined;
}

let plays = 0;

/** Plays a history to its end. @returns the rules that it broke, in words, what happened, and how many tries took up what was there */
export async function playAgent(
	{ history, calls }: AgentHistory,
	processes: readonly Process[],
): Promise<{ broken: string[]; story: string[]; spared: number }> {
	const machine = new Machine(history.seed);
	const story: string[] = [];
	const note = (line: string) => {
		story.push(`${(machine.elapsed / 1000).toFixed(2).padStart(10)} s  ${line}`);
	};
	const name = `a${(plays += 1)}.example`;
	const baseUrl = `https://api.${name}`;
	const service = new Service(machine, history, `https://files.${name}`, {
		note,
		call: () => undefined,
	});
	const made: Call[] = [];
	const textOf = (call: number) => (calls[call]?.text ?? 0) % history.items.length;
	const world: Surroundings = {
		baseUrl,
		ownUrl: `https://n8n.${name}`,
		service: () => service,
		files: new FileHost(machine, history, note),
		store: new Store(),
		note,
		fields: (call, salt) => fieldsOf(history, textOf(call), salt),
		asTool: true,
	};
	const n8n = new N8n(machine, history, world, processes);
	let stopped = false;
	let over = false;
	const make = async (index: number) => {
		if (stopped) return;
		const call: Call = { text: textOf(index), beganMs: machine.elapsed, execution: undefined };
		made.push(call);
		note(`call ${index}, of text ${call.text}`);
		call.execution = await n8n.callAsTool(index);
	};
	const remove = machine.install();
	try {
		for (const { at, kind } of history.events)
			machine.later(at * 1000, () => {
				note(kind);
				if (kind === 'clock set back') machine.wallOffset -= 3_600_000;
				else stopped = true;
				if (kind === 'stop') n8n.stop();
			});
		const agent = async () => {
			const underWay: Array<Promise<void>> = [];
			for (const [index, { after }] of calls.entries()) {
				if (after < 0) await Promise.all(underWay);
				else await machine.pause(after * 1000);
				underWay.push(make(index));
			}
			await Promise.all(underWay);
			over = true;
		};
		void agent();
		await machine.run(() => over);
	} catch (error) {
		return {
			broken: [error instanceof Error ? (error.stack ?? '') : String(error)],
			story,
			spared: 0,
		};
	} finally {
		machine.endTimers();
		remove();
	}
	const tries = made.reduce((sum, { execution }) => sum + (execution?.tries ?? 0), 0);
	return {
		broken: [
			...paidTwice(service, made),
			...lost(service, made, stopped),
			...given(made),
			...keyElsewhere({ n8n, baseUrl }),
		],
		story,
		spared: Math.max(0, tries - service.sent.length),
	};
}

/** Of one text there are never more sendings that count than calls that have begun. */
function paidTwice(service: Service, made: readonly Call[]): string[] {
	return service.sent.flatMap((sent, index) => {
		const calls = made.filter(
			({ text, beganMs }) => text === indexOf(sent.slot) && beganMs <= sent.atMs,
		).length;
		const counting = service.sent
			.slice(0, index)
			.filter(
				({ slot, fate, task }) =>
					slot === sent.slot &&
					fate !== 'free' &&
					!(fate === 'told' && task !== undefined && isFailed(service, task, sent.atMs)),
			).length;
		return counting < calls
			? []
			: [`PAID TWICE: ${sent.slot} was sent for ${calls} calls, after ${counting} that count`];
	});
}

/** What the agent reads of a call. */
function answerOf({ execution }: Call): string {
	if (execution === undefined || execution.status === 'canceled') return '';
	if (execution.status === 'success') return JSON.stringify(execution.output);
	const { message, description } = execution.error as Error & { description?: string };
	return `${message}\n${description}`;
}

/** Each task is in the log and, unless it failed, in what the agent reads; of what is unclear it reads that it is. */
function lost(service: Service, made: readonly Call[], stopped: boolean): string[] {
	const logs = made.flatMap(({ execution }) => execution?.logs ?? []);
	const answers = made.map(answerOf).join('\n');
	const executions = made.flatMap(({ execution }) => execution ?? []);
	return service.sent.flatMap((sent) => {
		const { slot, fate, task, named, answeredMs } = sent;
		if (answeredMs === undefined) return [];
		if ((fate === 'told' || isFound({ executions }, sent)) && task !== undefined) {
			const isLogged = logs.some((line) => line.includes(task.id));
			const isSaid = stopped || isFailed(service, task) || answers.includes(task.id);
			return [
				...(isLogged ? [] : [`LOST: task ${task.id} is in no log`]),
				...(isSaid ? [] : [`LOST: no call names task ${task.id}`]),
			];
		}
		if (fate !== 'unclear' || stopped) return [];
		const says =
			named && task !== undefined
				? isFailed(service, task) || answers.includes(task.id)
				: /may exist|may have created|"outcome":"unknown"/.test(answers);
		return says ? [] : [`LOST: no call says that ${slot} is unclear`];
	});
}

/** Two calls that went well are two tasks. */
function given(made: readonly Call[]): string[] {
	const ids = made.flatMap(({ execution }) =>
		execution?.status === 'success' ? [taskIdsOf(execution)].filter((id) => id.length > 0) : [],
	);
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
