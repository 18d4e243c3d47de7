import { Agent, request } from 'undici';
import { now, type Timers } from './clock';
import type { CallbackOverrides, CallbackRecord, JsonObject, Settings, TaskRecord } from './types';

type Delivery = { status: number; body: string };

/** Sends completion callbacks (docs/service.md, "Events") and keeps what came of each. */
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

	/** To be called once when a task ends. Without `receive_url` there is no callback (docs/service.md, "Events"). */
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
	async send(task: TaskRecord, overrides: CallbackOverrides = {}): Promise<Delivery> {
		const url = overrides.url ?? task.receiveUrl;
		if (url === null) throw new Error(`Task ${task.id} has no receive_url`);
		return await this.post(task.id, url, 1, 1, overrides, {
			...this.payload(task),
			...overrides.patch,
		});
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
			(_, index) => async () => await this.insist(task.id, url, index + 1, body),
		);
		if (callbacks.concurrent) await Promise.all(copies.map(async (copy) => await copy()));
		else for (const copy of copies) await copy();
	}

	/** Sends one copy, again and again if the settings say so. */
	private async insist(taskId: string, url: string, copy: number, body: JsonObject): Promise<void> {
		for (let attempt = 1; ; attempt++) {
			const { status } = await this.post(taskId, url, copy, attempt, {}, body);
			const { retryOn5xx, retryOn409, retryDelayMs } = this.settings.callbacks;
			const again = status === 0 || status >= 500 || (status === 409 && retryOn409);
			if (!again || attempt > retryOn5xx) return;
			await this.timers.sleep(retryDelayMs);
		}
	}

	private async post(
		taskId: string,
		url: string,
		copy: number,
		attempt: number,
		overrides: CallbackOverrides,
		payload: JsonObject,
	): Promise<Delivery> {
		const { round } = this;
		const at = now();
		const content = overrides.body === undefined ? payload : overrides.body;
		const timeoutMs = this.settings.callbacks.timeoutMs;
		let answer: Delivery;
		try {
			const method = overrides.method ?? 'POST';
			const response = await request(url, {
				method,
				headers: {
					'content-type': 'application/json',
					'user-agent': 'stand-in-callbacks',
					...overrides.headers,
				},
				body:
					method === 'GET' ? null : typeof content === 'string' ? content : JSON.stringify(content),
				dispatcher: this.agent,
				headersTimeout: timeoutMs,
				bodyTimeout: timeoutMs,
			});
			answer = { status: response.statusCode, body: await response.body.text() };
		} catch (error) {
			answer = { status: 0, body: error instanceof Error ? error.message : String(error) };
		}
		if (round === this.round) this.records.push({ taskId, url, at, ...answer, attempt, copy });
		return answer;
	}
}
