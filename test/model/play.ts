/** Plays one history to its end, and says which rules it broke. */
import type { IDataObject } from 'n8n-workflow';
import { fieldsOf } from './fields';
import { binaryStore, type BinaryStore } from '../support/binaryStore';
import { FileHost } from './files';
import type { EventScript, History } from './history';
import { Machine, START } from '../support/machine';
import { N8n, type Surroundings } from './n8n';
import type { Process } from './processes';
import { brokenRules } from './rules';
import { Service, type Request, type Response, type Sender } from './service';

/** What may still come after the end: answers to what is given up, callbacks, calls of a watch that lives on. */
const AFTERWARDS_MS = 300_000;
let stages = 0;

/** The hosts of a stage, which no other one has: so is its account. */
export interface Hosts {
	baseUrl: string;
	ownUrl: string;
	filesUrl: string;
}

function newHosts(): Hosts {
	const name = `h${(stages += 1)}.example`;
	const [baseUrl, ownUrl] = [`https://api.${name}`, `https://n8n.${name}`];
	return { baseUrl, ownUrl, filesUrl: `https://files.${name}` };
}

type Own = 'baseUrl' | 'ownUrl' | 'service' | 'files' | 'store' | 'note';

interface Setting extends Omit<Surroundings, Own> {
	/** Those of an earlier run. */
	hosts?: Hosts | undefined;
	/** Epoch ms. */
	start?: number;
	/** Another stage's: its process has both accounts. */
	machine?: Machine;
	/** Goes before what the service says. */
	answer?: (request: Request) => Promise<Response | undefined>;
}

/** An n8n with a service and hosts of its own, so that no history finds anything of another one. */
export class Stage {
	readonly story: string[] = [];
	readonly machine: Machine;
	readonly hosts: Hosts;
	readonly service: Service;
	readonly store: BinaryStore;
	readonly n8n: N8n;

	constructor(
		readonly history: History,
		processes: readonly Process[],
		{ hosts = newHosts(), start = START, answer, machine: shared, ...own }: Setting,
	) {
		const machine = shared ?? new Machine(history.seed, { start });
		this.machine = machine;
		this.hosts = hosts;
		this.store = binaryStore('filesystem', history.store);
		const { note, store } = this;
		const { baseUrl, filesUrl } = hosts;
		const ownUrl = history.node.reachable ? hosts.ownUrl : 'http://10.0.0.5:5678';
		const call = (url: string, body: IDataObject) => void this.n8n.post(url, body);
		this.service = new Service(machine, history, filesUrl, { note, call });
		const service = () => ({
			handle: async (request: Request, sender: Sender) =>
				(await answer?.(request)) ?? (await this.service.handle(request, sender)),
		});
		const files = new FileHost(machine, history, note);
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

/** @returns what is broken, what happened in order, and whether the node woke an execution that slept */
export async function play(history: History, processes: readonly Process[]) {
	const fields = (index: number, salt: string) => fieldsOf(history, index, salt);
	const stage = new Stage(history, processes, { fields });
	const { machine, n8n, service, story } = stage;
	const { baseUrl } = stage.hosts;
	const thrown = await stage.play(async () => {
		for (const event of history.events) {
			if (event.at === 0) happen(event, stage);
			else machine.later(event.at * 1000, () => happen(event, stage));
		}
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
