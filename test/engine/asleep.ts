/** What the suites of sleeping executions share: n8n's webhooks, executions that fall asleep at once, and what must hold after every test. */
import type { IDataObject, INodeExecutionData, INodeParameters } from 'n8n-workflow';
import type { EngineOptions } from './engine';
import { engineSetting, SECRET, type Setting, type SuiteOptions } from './setting';
import { until } from './until';
import { startWebhooks, type Execution, type StartOptions, type WebhookHost } from './webhook';

export interface SleepSetting {
	readonly setting: Setting;
	readonly host: WebhookHost;
	/** Starts an execution, and resolves when it sleeps. Fails where it does not. */
	sleeping: (options: Omit<StartOptions, 'credentials'>) => Promise<Execution>;
	/** Starts an execution. */
	start: (options: Omit<StartOptions, 'credentials'>) => Promise<Execution>;
	/** The ID of a task by its voice. */
	taskOf: (voice: string) => string;
}

/** A generation that sleeps at once. Its item says which voice, and steers the stand-in's task. */
export const speaking = (options: INodeParameters = {}): EngineOptions['parameters'] => ({
	resource: 'speech',
	operation: 'generateByVoiceId',
	voiceId: '={{ $json.voice ?? "nobody" }}',
	text: 'Hello',
	waitMode: 'callback',
	options: {
		gracePeriod: 0,
		extraFields: '={{ { stand_in: $json.stand_in ?? { never_ends: true } } }}',
		...options,
	},
});

export function sleepSetting(options: SuiteOptions = {}): SleepSetting {
	let host: WebhookHost;
	// Before the stand-in forgets its tasks: nothing is left asleep, and so nothing is watched any more.
	afterEach(async () => {
		const { service } = setting;
		service.faults.clear();
		const running = service.tasks.filter(({ status }) => status === 'doing');
		await Promise.all(running.map(async ({ id }) => await service.finish(id)));
		const executions = host.executions.all();
		await until('nothing sleeps', () => executions.every(isOver), 5_000).catch(() => undefined);
		for (const execution of executions.filter(isOver)) {
			const { saved, logs } = await execution.settled();
			for (const text of [saved, ...logs]) {
				for (const { key } of service.keys) expect(text).not.toContain(key);
				expect(text).not.toContain(SECRET);
			}
		}
	});
	const setting = engineSetting(options);
	beforeAll(async () => {
		host = await startWebhooks();
	});
	afterAll(async () => await host.close());
	const start = async (options: Omit<StartOptions, 'credentials'>) => {
		const { apiKey, baseUrl } = setting.service;
		const credentials = { apiKey, baseUrl, callbackSecret: SECRET };
		return await host.start({ ...options, credentials });
	};
	return {
		setting,
		get host() {
			return host;
		},
		start,
		async sleeping(options) {
			const execution = await start(options);
			const { error } = await execution.settled();
			if (execution.status !== 'waiting')
				throw new Error(`It does not sleep but is "${execution.status}": ${error?.message}`);
			return execution;
		},
		taskOf(voice) {
			const [task] = setting.service.creations(({ params }) => params.voice_id === voice);
			if (task === undefined) throw new Error(`There is no task for the voice "${voice}"`);
			return task.id;
		},
	};
}

const isOver = ({ status }: Execution) => status !== 'waiting' && status !== 'running';

/** Resolves when the execution is through. */
export async function awake(execution: Execution, withinMs = 20_000): Promise<void> {
	await until('the execution woke and came to its end', () => isOver(execution), withinMs);
}

/** What the node behind the output, or behind the error branch, was given. */
export async function given(
	execution: Execution,
	node: 'After' | 'Failed',
): Promise<INodeExecutionData[]> {
	const { run } = await execution.settled();
	return run.data.resultData.runData[node]?.at(-1)?.data?.main?.[0] ?? [];
}

/** What became of each item, in short. */
/** What failed while an execution slept has its fields in `details` on the error branch. */
export const fieldsOf = ({ json }: INodeExecutionData): IDataObject =>
	(json.details as IDataObject | undefined) ?? json;

export const ends = (items: INodeExecutionData[]) =>
	items.map((item) => {
		const { outcome, timed_out: late, status } = fieldsOf(item);
		return outcome ?? (late === true ? 'late' : status);
	});
