/** What the trigger's suites share: a stand-in, n8n's webhooks, tasks that were created past n8n. */
import type { INodeExecutionData, INodeParameters } from 'n8n-workflow';
import { prepareReceiveUrl } from '../../nodes/MediaGeneration/callback/receiveUrl';
import type { Steering } from '../service';
import { engineSetting, SECRET, type Setting } from './setting';
import { until } from './until';
import { startWebhooks, type HttpAnswer, type Published, type WebhookHost } from './webhook';

export const RECEIVED = { status: 200, body: { received: true } };

export interface TriggerSetting extends Setting {
	readonly host: WebhookHost;
	/** A published trigger. @param secret of its credential; empty: none. @param apiKey the first key if none is given */
	trigger(parameters?: INodeParameters, secret?: string, apiKey?: string): Published;
	/** A task that is over, or runs on where `steering` says so. */
	task(steering?: Steering): Promise<string>;
	/** A URL as the action node signs it with {@link SECRET}. */
	signed(url: string, reference?: string, now?: number): string;
	/** The only item that the only execution of a trigger gave out. */
	item(trigger: Published): Promise<INodeExecutionData>;
}

export function refused(status: number, error: RegExp | string): HttpAnswer {
	const message: unknown = typeof error === 'string' ? error : expect.stringMatching(error);
	return { status, body: { received: false, error: message } };
}

export function ignored(reason: RegExp | string): HttpAnswer {
	const message: unknown = typeof reason === 'string' ? reason : expect.stringMatching(reason);
	return { status: 200, body: { received: true, ignored: message } };
}

export function triggerSetting(): TriggerSetting {
	const setting = engineSetting();
	let host: WebhookHost | undefined;
	const the = (): WebhookHost => {
		if (host === undefined) throw new Error('The host is not running');
		return host;
	};
	beforeAll(async () => {
		host = await startWebhooks();
	});
	afterAll(async () => await host?.close());
	afterEach(async () => {
		// README, rule 3, for all that ran: no secret in what n8n saves or logs.
		for (const execution of the().executions.all()) {
			const { saved, logs } = await execution.settled();
			for (const text of [saved, ...logs]) {
				expect(text).not.toContain(setting.service.apiKey);
				expect(text).not.toContain(SECRET);
			}
		}
	});
	const own: Omit<TriggerSetting, keyof Setting> = {
		get host() {
			return the();
		},
		trigger: (parameters = {}, callbackSecret = '', apiKey = setting.service.apiKey) => {
			const { baseUrl } = setting.service;
			return the().publish({ parameters, credentials: { apiKey, baseUrl, callbackSecret } });
		},
		task: async (steering = {}) => {
			const { service } = setting;
			const response = await fetch(`${service.baseUrl}/v1/task/sound-effect`, {
				method: 'POST',
				headers: {
					'content-type': 'application/json',
					authorization: `Bearer ${service.apiKey}`,
				},
				body: JSON.stringify({ text: 'Rain', stand_in: { ms: 0, ...steering } }),
			});
			const { task_id: taskId } = (await response.json()) as { task_id: string };
			if (steering.never_ends !== true && steering.ms === undefined)
				await until('the task is over', () => service.task(taskId).status !== 'doing');
			return taskId;
		},
		signed: (url, reference, now = Date.now()) => {
			const { apiKey, baseUrl } = setting.service;
			const credentials = { apiKey, baseUrl, callbackSecret: SECRET };
			return prepareReceiveUrl(url, credentials, { reference, signed: true, now });
		},
		item: async (trigger) => {
			const executions = trigger.executions();
			expect(executions).toHaveLength(1);
			const { output } = (await executions[0]?.settled()) ?? { output: [] };
			expect(output).toHaveLength(1);
			return output[0] as INodeExecutionData;
		},
	};
	return Object.create(setting, Object.getOwnPropertyDescriptors(own)) as TriggerSetting;
}
