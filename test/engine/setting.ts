/** What all engine suites share: a stand-in of their own, runs of one node, and what must hold after every test. */
import type { IDataObject } from 'n8n-workflow';
import { startService, type SettingsPatch, type StandIn } from '../service';
import { clearEngine, runNode, type EngineOptions, type EngineResult } from './engine';

export const SECRET = 'callback-secret-of-the-tests';

export interface Setting {
	readonly service: StandIn;
	run(
		options: Omit<EngineOptions, 'credentials'> & {
			credentials?: Partial<EngineOptions['credentials']>;
		},
	): Promise<EngineResult>;
	/** The bodies of all creations, in order. */
	bodies(): IDataObject[];
}

/** Sets a stand-in up for the suite; after each test it checks that the key went to the service and nowhere else. */
export function engineSetting(settings: SettingsPatch = {}): Setting {
	let service: StandIn | undefined;
	const results: EngineResult[] = [];
	const the = (): StandIn => {
		if (service === undefined) throw new Error('The stand-in is not running');
		return service;
	};
	beforeAll(async () => {
		service = await startService({ settings: { taskMs: 100, ...settings } });
	});
	afterAll(async () => {
		await service?.close();
		clearEngine();
	});
	afterEach(() => {
		const { requests, apiKey } = the();
		const strangers = requests.filter(
			({ host, headers }) => host !== 'api' && headers.authorization !== undefined,
		);
		expect(strangers).toEqual([]);
		for (const { saved, logs } of results) {
			for (const text of [saved, ...logs]) {
				expect(text).not.toContain(apiKey);
				expect(text).not.toContain(SECRET);
			}
		}
		results.length = 0;
		the().reset();
	});
	return {
		get service() {
			return the();
		},
		async run(options) {
			const { apiKey, baseUrl } = the();
			const result = await runNode({
				...options,
				credentials: { apiKey, baseUrl, callbackSecret: SECRET, ...options.credentials },
			});
			results.push(result);
			return result;
		},
		bodies: () =>
			the()
				.creations()
				.map(({ body }) => body as IDataObject),
	};
}

export const sound = (text = '={{ $json.text ?? "Rain" }}') => ({
	resource: 'soundEffect',
	operation: 'generate',
	text,
});

/** Steers the stand-in's tasks by the item: `{ stand_in: {...} }` in its JSON. */
export const steered = { extraFields: '={{ JSON.stringify({ stand_in: $json.stand_in ?? {} }) }}' };

export const goOn = { onError: 'continueRegularOutput' as const };
