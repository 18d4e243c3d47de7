/** Plays one history to its end, and says which rules it broke. */
import type { IDataObject } from 'n8n-workflow';
import { fieldsOf } from './fields';
import { FileHost, Store } from './files';
import type { EventScript, History } from './history';
import { Machine } from '../support/machine';
import { N8n, type Surroundings } from './n8n';
import type { Process } from './processes';
import { brokenRules } from './rules';
import { Service } from './service';

export interface Played {
	broken: string[];
	/** What happened, in order. */
	story: string[];
	/** Whether the node woke an execution that slept. */
	woken: boolean;
}

/** What may still come after the end: answers to what is given up, callbacks, calls of a watch that lives on. */
const AFTERWARDS_MS = 300_000;
let plays = 0;

/** An n8n with a service and hosts of its own, so that no history finds anything of another one. */
export class Stage {
	readonly story: string[] = [];
	readonly machine: Machine;
	readonly baseUrl: string;
	readonly service: Service;
	readonly store: Store;
	readonly n8n: N8n;

	constructor(
		readonly history: History,
		processes: readonly Process[],
		own: Pick<Surroundings, 'asTool' | 'fields'>,
	) {
		const name = `h${(plays += 1)}.example`;
		const ownUrl = history.node.reachable ? `https://n8n.${name}` : 'http://10.0.0.5:5678';
		const machine = new Machine(history.seed);
		this.machine = machine;
		this.baseUrl = `https://api.${name}`;
		this.store = new Store(history.store);
		const { note, baseUrl, store } = this;
		const call = (url: string, body: IDataObject) => void this.n8n.post(url, body);
		this.service = new Service(machine, history, `https://files.${name}`, { note, call });
		const files = new FileHost(machine, history, note);
		const service = () => this.service;
		const world = { baseUrl, ownUrl, service, files, store, note, ...own };
		this.n8n = new N8n(machine, history, world, processes);
	}

	readonly note = (line: string): void => {
		this.story.push(`${(this.machine.elapsed / 1000).toFixed(2).padStart(10)} s  ${line}`);
	};

	/** Acts in virtual time. @returns what was thrown, in words */
	async play(act: () => Promise<void>): Promise<string[]> {
		const remove = this.machine.install();
		try {
			await act();
			return [];
		} catch (error) {
			return [error instanceof Error ? (error.stack ?? '') : String(error)];
		} finally {
			// What is left of this process finds no clock and no connection any more.
			this.n8n.close();
			this.machine.endTimers();
			remove();
		}
	}
}

export async function play(history: History, processes: readonly Process[]): Promise<Played> {
	const fields = (index: number, salt: string) => fieldsOf(history, index, salt);
	const stage = new Stage(history, processes, { fields });
	const { machine, n8n, service, baseUrl, story } = stage;
	const thrown = await stage.play(async () => {
		for (const event of history.events) machine.later(event.at * 1000, () => happen(event, stage));
		n8n.start();
		await machine.run(() => n8n.isOver);
		if (history.behind !== 'nobody' && n8n.startBehind()) await machine.run(() => n8n.isOver);
		await machine.run(() => false, machine.elapsed + AFTERWARDS_MS);
	});
	if (thrown.length > 0) return { broken: thrown, story, woken: false };
	const broken = brokenRules({ history, n8n, service, baseUrl });
	return { broken, story, woken: n8n.executions.some((execution) => execution.woken) };
}

function happen({ kind }: EventScript, { n8n, service, machine, note }: Stage): void {
	switch (kind) {
		case 'stop':
			note('somebody stops the execution');
			return n8n.stop();
		case 'death':
			return n8n.die();
		case 'clock set back':
			note('somebody sets the clock back by an hour');
			machine.moveWall(-3_600_000);
			return;
		case 'clock set forward':
			note('somebody sets the clock forward by two days');
			machine.moveWall(2 * 86_400_000);
			return;
		case 'forged callback':
		case 'forged sibling': {
			const execution = n8n.executions.find(({ status }) => status === 'waiting');
			if (execution === undefined) return;
			const id = kind === 'forged sibling' ? 'another-task' : service.tasks.at(-1)?.id;
			note(`somebody claims that task ${id} is done`);
			const metadata = { audio_url: 'https://evil.example/a.mp3' };
			void n8n.post(n8n.resumeUrl(execution), { id, status: 'done', progress: 100, metadata });
		}
	}
}
