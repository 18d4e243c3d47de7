/** Values that are odd but possible: each is used as it is meant, or refused in words before anything is paid. */
import { engineSetting, goOn, sound, steered } from './setting';
import { startWebhooks, type WebhookHost } from './webhook';

const setting = engineSetting();
const parameters = { ...sound(), downloadOutput: false };

describe('Callback Reference', () => {
	const references: Array<[string, unknown, string]> = [
		['a number', 12345, '12345'],
		['zero', 0, '0'],
		['a number of many digits', 9007199254740991, '9007199254740991'],
		['a text', 'order-7', 'order-7'],
	];
	test.each(references)('%s', async (_, order, expected) => {
		const { error } = await setting.run({
			items: [{ order } as { order: string }],
			parameters: {
				...parameters,
				waitForCompletion: false,
				callbackUrl: `${setting.service.otherUrl}/hook`,
				options: { callbackReference: '={{ $json.order }}' },
			},
		});
		expect(error).toBeUndefined();
		const [body] = setting.bodies();
		expect(new URL(body?.receive_url as string).searchParams.get('reference')).toBe(expected);
	});
});

describe('a Timeout beyond what a date can hold', () => {
	let host: WebhookHost;
	beforeAll(async () => {
		host = await startWebhooks();
	});
	afterAll(async () => await host.close());

	/** In seconds; the last moment of a date is 8,640,000,000,000 s after 1970. */
	const timeouts = [8_640_000_000_000, 1e15, 1e300];

	test.each(timeouts)('%d s of polling', async (timeout) => {
		const { output } = await setting.run({
			parameters: { ...parameters, options: { timeout } },
			settings: goOn,
		});
		expect(setting.attempts()).toBe(0);
		expect(output[0]?.json.outcome).toBe('invalid');
		expect(output[0]?.json.error).toMatch(/Timeout/);
	});

	test.each(timeouts)('%d s of sleeping', async (timeout) => {
		const { apiKey, baseUrl } = setting.service;
		const execution = await host.start({
			parameters: {
				...parameters,
				waitMode: 'callback',
				options: { ...steered, timeout, gracePeriod: 0 },
			},
			items: [{ stand_in: { never_ends: true } }],
			settings: goOn,
			credentials: { apiKey, baseUrl, callbackSecret: '' },
		});
		const { output } = await execution.settled();
		expect(setting.attempts()).toBe(0);
		expect(output[0]?.json.outcome).toBe('invalid');
		expect(output[0]?.json.error).toMatch(/Timeout/);
	});

	test('ten years are no problem', async () => {
		const { output, error } = await setting.run({
			parameters: { ...parameters, options: { timeout: 10 * 366 * 86_400 } },
		});
		expect(error).toBeUndefined();
		expect(output[0]?.json.status).toBe('done');
	});
});
