/** What all engine suites share: a stand-in of their own, runs of one node, and what must hold after every test. */
import type { IDataObject } from 'n8n-workflow';
import { startService, type ProfileName, type StandIn } from '../service';
import { clearEngine, prepareEngine, type EngineOptions, type EngineResult } from './engine';
import { runNode } from './executions';
import { runAhead } from './hurry';

export const SECRET = 'callback-secret-of-the-tests';

type RunOptions = Omit<EngineOptions, 'credentials'> & {
	credentials?: Partial<EngineOptions['credentials']>;
};

/** Sets a stand-in up for the suite; after each test it checks that the key went to the service and nowhere else. */
export function engineSetting(profile: ProfileName = 'specification') {
	let backToReal = async () => await Promise.resolve();
	let service: StandIn | undefined;
	const results: Array<Pick<EngineResult, 'saved' | 'logs'>> = [];
	const the = (): StandIn => {
		if (service === undefined) throw new Error('The stand-in is not running');
		return service;
	};
	beforeAll(async () => {
		service = await startService({ profile, settings: { taskMs: 100 } });
		await prepareEngine();
		backToReal = runAhead();
	});
	afterAll(async () => {
		await backToReal();
		await service?.close();
		clearEngine();
	});
	afterEach(() => {
		const { requests, apiKey } = the();
		const others = requests.filter(
			({ host, headers }) => host !== 'api' && headers.authorization !== undefined,
		);
		expect(others).toEqual([]);
		for (const { saved, logs } of results) {
			for (const text of [saved, ...logs]) {
				expect(text).not.toContain(apiKey);
				expect(text).not.toContain(SECRET);
			}
		}
		results.length = 0;
		the().reset();
	});
	const credentials = () => {
		const { apiKey, baseUrl } = the();
		return { apiKey, baseUrl, callbackSecret: SECRET };
	};
	const run = async (options: RunOptions) => {
		const result = await runNode({
			...options,
			credentials: { ...credentials(), ...options.credentials },
		});
		results.push(result);
		return result;
	};
	return {
		get service() {
			return the();
		},
		run,
		/** The bodies of all creations, in order. */
		bodies: () =>
			the()
				.creations()
				.map(({ body }) => body as IDataObject),
		/** How many creations were sent, whatever became of them. */
		attempts: () => the().requests.filter(({ route }) => route === 'create').length,
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
