import { Agent, request } from 'undici';
import { now, type Timers } from './clock';
import type { CallbackRecord, JsonObject, Settings, TaskRecord } from './types';

const TIMEOUT_MS = 30_000;

type Delivery = { status: number; body: string };

/** Sends completion callbacks (docs/service.md, "Callbacks") and keeps what came of each. */
export class CallbackSender {
	readonly records: CallbackRecord[] = [];
	private readonly pending = new Map<string, Promise<void>>();
	private readonly agent = new Agent({ connections: 64 });
	private round = 0;

	constructor(
		private readonly settings: Settings,
		private readonly timers: Timers,
		private readonly payload: (task: TaskRecord) => JsonObject,
	) {}

	/** To be called once when a task ends. Without `receive_url` there is no callback (docs/service.md, "Callbacks"). */
	announce(task: TaskRecord): void {
		const { callbacks } = this.settings;
		const { receiveUrl, steering } = task;
		if (receiveUrl === null || callbacks.drop || steering.no_callback) return;
		const work = this.deliver(task, receiveUrl).finally(() => this.pending.delete(task.id));
		this.pending.set(task.id, work);
	}

	/** Resolves when all callbacks of the task are through. */
	async settled(taskId: string): Promise<void> {
		await this.pending.get(taskId);
	}

	/** One delivery, now, whatever the settings say. */
	async send(task: TaskRecord): Promise<Delivery> {
		if (task.receiveUrl === null) throw new Error(`Task ${task.id} has no receive_url`);
		return await this.post({ taskId: task.id, url: task.receiveUrl }, this.payload(task));
	}

	reset(): void {
		this.round += 1;
		this.records.length = 0;
		this.pending.clear();
	}

	async close(): Promise<void> {
		await this.agent.destroy();
	}

	private async deliver(task: TaskRecord, url: string): Promise<void> {
		const { callbacks } = this.settings;
		const body = this.payload(task);
		const copies = Array.from(
			{ length: task.steering.callback_copies ?? callbacks.copies },
			() => async () => await this.insist({ taskId: task.id, url }, body),
		);
		if (callbacks.concurrent) await Promise.all(copies.map(async (copy) => await copy()));
		else for (const copy of copies) await copy();
	}

	/** Sends one copy, again and again if the settings say so. */
	private async insist(
		to: Pick<CallbackRecord, 'taskId' | 'url'>,
		body: JsonObject,
	): Promise<void> {
		for (let attempt = 1; ; attempt++) {
			const { status } = await this.post(to, body);
			const { retryOn5xx, retryDelayMs } = this.settings.callbacks;
			const again = status === 0 || status >= 500;
			if (!again || attempt > retryOn5xx) return;
			await this.timers.sleep(retryDelayMs);
		}
	}

	private async post(
		to: Pick<CallbackRecord, 'taskId' | 'url'>,
		payload: JsonObject,
	): Promise<Delivery> {
		const { round } = this;
		const at = now();
		let answer: Delivery;
		try {
			const response = await request(to.url, {
				method: 'POST',
				headers: { 'content-type': 'application/json', 'user-agent': 'stand-in-callbacks' },
				body: JSON.stringify(payload),
				dispatcher: this.agent,
				headersTimeout: TIMEOUT_MS,
				bodyTimeout: TIMEOUT_MS,
			});
			answer = { status: response.statusCode, body: await response.body.text() };
		} catch (error) {
			answer = { status: 0, body: error instanceof Error ? error.message : String(error) };
		}
		if (round === this.round) this.records.push({ ...to, at, ...answer });
		return answer;
	}
}
