/** README, rule 3: the key goes to the service and nowhere else, whoever asks n8n for a request with this credential. */
import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { node, passing } from './engine';
import { runWorkflow } from './executions';
import { engineSetting, goOn, SECRET, sound } from './setting';

const setting = engineSetting();

/** How n8n's own nodes send a request with a credential: its HTTP Request node by the older helper. */
type Helper = 'httpRequestWithAuthentication' | 'requestWithAuthentication';
const HELPERS: Helper[] = ['httpRequestWithAuthentication', 'requestWithAuthentication'];

/** What came back, or what was said instead. */
async function send(helper: Helper, options: object, credentials: { baseUrl?: string } = {}) {
	const { apiKey, baseUrl } = setting.service;
	const probe = passing('probe', async function (this: IExecuteFunctions) {
		try {
			const answer: unknown = await this.helpers[helper].call(this, 'mediaGenerationApi', {
				method: 'GET',
				...options,
			} as never);
			return [[{ json: { answer: answer as IDataObject } }]];
		} catch (error) {
			return [[{ json: { refused: (error as Error).message } }]];
		}
	});
	probe.description.credentials = [{ name: 'mediaGenerationApi', required: true }];
	const { output } = await runWorkflow({
		types: { probe },
		nodes: [
			node(
				'Media',
				'probe',
				{},
				{ credentials: { mediaGenerationApi: { id: '1', name: 'Test' } } },
			),
		],
		connections: {},
		credentials: { apiKey, baseUrl, ...credentials },
	});
	return output[0]?.json ?? {};
}

/** The older helper is given `uri`, as n8n's HTTP Request node does. */
const to = (helper: Helper, url: string) =>
	helper === 'requestWithAuthentication'
		? { uri: url, followRedirect: true, followAllRedirects: true, maxRedirects: 21, json: true }
		: { url, json: true };

/** All requests that carried the key, whatever header it was in. */
const withKey = () =>
	setting.service.requests.filter(({ headers, url }) =>
		`${JSON.stringify(headers)} ${url}`.includes(setting.service.apiKey),
	);

describe.each(HELPERS)('%s', (helper) => {
	it.each(['', '/', '//'])(
		'gets the key for an address under the base URL that ends with "%s"',
		async (end) => {
			const { baseUrl, requests } = setting.service;
			const options = to(helper, `${baseUrl}/v1/credits`);
			const { answer } = await send(helper, options, { baseUrl: baseUrl + end });
			expect(answer).toMatchObject({ success: true });
			expect(requests.at(-1)?.headers.authorization).toBe(`Bearer ${setting.service.apiKey}`);
		},
	);

	it.each([302, 307])('follows no redirect (%i) with the key', async (status) => {
		setting.service.faults.add({
			route: 'credits',
			action: { type: 'redirect', to: '{other}/v1/credits', status },
		});
		await send(helper, to(helper, `${setting.service.baseUrl}/v1/credits`));
		expect(setting.service.requests.map(({ host, status: got }) => [host, got])).toEqual([
			['api', status],
		]);
	});
});

it('is sent by the node to the service only, by whatever header', async () => {
	const { service } = setting;
	const parameters = { resource: 'credits', operation: 'get' };
	for (const keyHeader of ['authorization', 'xi-api-key'])
		await setting.run({
			parameters,
			settings: { onError: 'continueRegularOutput' },
			credentials: { keyHeader },
		});
	expect(
		withKey().map(({ host, headers }) => [host, headers['xi-api-key'] ?? headers.authorization]),
	).toEqual([
		['api', `Bearer ${service.apiKey}`],
		['api', service.apiKey],
	]);
});

it('goes out of what the service echoes, as the Callback Secret does', async () => {
	const { apiKey } = setting.service;
	const body = {
		id: 't1',
		status: 'doing',
		error_message: `the key ${apiKey} is fine`,
		[SECRET]: encodeURIComponent(SECRET),
	};
	const action = { type: 'status', status: 200, body } as const;
	setting.service.faults.add({ route: 'poll', action });
	const { output, saved } = await setting.run({
		parameters: { resource: 'task', operation: 'get', taskId: body.id },
	});
	expect(output[0]?.json).toMatchObject({
		id: 't1',
		error_message: 'the key sk_*** is fine',
		'***': '***',
	});
	expect(saved).not.toContain(apiKey);
});

describe('a credential whose fields are expressions', () => {
	const OTHER = "={{ $json.tenant === 'b' ? 'sk_of_another_tenant' : '";
	const credentials = () => ({ apiKey: `${OTHER}${setting.service.apiKey}' }}` });
	const items = ['a', 'b', 'a'].map((tenant) => ({ tenant }));
	const refused = {
		outcome: 'invalid',
		error: 'The credential of this item is for another account than that of the first item',
	};

	it('serves the account of the first item, and nothing is sent for others', async () => {
		const { output } = await setting.run({
			parameters: { ...sound('Rain'), downloadOutput: false },
			settings: goOn,
			items,
			credentials: credentials(),
		});
		expect(output.map(({ json }) => json)).toMatchObject([
			{ status: 'done' },
			refused,
			{ status: 'done' },
		]);
		expect(setting.attempts()).toBe(2);
	});

	it('pays nothing where a failure stops the run', async () => {
		const run = { parameters: sound('Rain'), items, credentials: credentials() };
		expect((await setting.run(run)).error?.message).toBe(refused.error);
		expect(setting.attempts()).toBe(0);
	});

	it('can not be suspended: n8n has no items when it wakes the execution', async () => {
		const { error } = await setting.run({
			parameters: { ...sound('Rain'), waitMode: 'callback' },
			credentials: credentials(),
		});
		expect(error?.message).toMatch(/credential whose fields depend on the items/);
		expect(setting.attempts()).toBe(0);
	});
});
