import type { INodeParameters } from 'n8n-workflow';
import { engineSetting, goOn, sound } from './setting';

const setting = engineSetting();

const voiceName = {
	resource: 'speech',
	operation: 'generateByVoiceName',
	voice: 'v',
	text: 'Hello',
};
const voiceId = { resource: 'speech', operation: 'generateByVoiceId', voiceId: 'v', text: 'Hello' };
const byId = (value: string) => ({ __rl: true, mode: 'id', value });
const image = { resource: 'image', operation: 'generate', prompt: 'A boat', generationsCount: 1 };
const task = (taskId: string) => ({ resource: 'task', operation: 'wait', taskId });

const cases: Array<[string, INodeParameters, RegExp]> = [
	['empty text', sound(' '), /"Text" is empty/],
	['text from an expression without a value', sound('={{ $json.nothing }}'), /"Text" is empty/],
	['text that is an object', sound('={{ $json }}'), /"Text" is not a text/],
	['empty prompt', { ...image, prompt: '={{ "" }}' }, /"Prompt" is empty/],
	['empty voice', { ...voiceName, voice: '={{ "" }}' }, /"Voice Name" is empty/],
	['empty voice', { ...voiceId, voiceId: '={{ "" }}' }, /"Voice" is empty/],
	['empty voice by ID', { ...voiceId, voiceId: byId('={{ "" }}') }, /"Voice" is empty/],
	[
		'voice that is an object',
		{ ...voiceId, voiceId: byId('={{ $json }}') },
		/"Voice" is not a text/,
	],
	['model that is a list', { ...voiceId, modelId: '={{ [1] }}' }, /"Model" is not a text/],
	[
		'model of an image that is a list',
		{ ...image, modelId: byId('={{ [1] }}') },
		/"Model" is not a text/,
	],
	[
		'voice ID with path tricks',
		{ ...voiceId, voiceId: '..' },
		/"Voice" can't be used in an address/,
	],
	['empty task ID', task('={{ "" }}'), /"Task ID" is empty/],
	['task ID with a slash', task('a/b'), /Task ID can't be used/],
	['task ID with a question mark', task('a?b'), /Task ID can't be used/],
	['no pictures', { ...image, generationsCount: 0 }, /"Number of Images" must be a whole number/],
	['one and a half pictures', { ...image, generationsCount: 1.5 }, /must be a whole number/],
	['pictures "x"', { ...image, generationsCount: 'x' }, /must be a whole number/],
	[
		'timeout 0',
		{ ...sound(), options: { timeout: 0 } },
		/"Timeout \(Seconds\)" must be a number greater than 0/,
	],
	[
		'timeout in words',
		{ ...sound(), options: { timeout: 'long' } },
		/must be a number greater than 0/,
	],
	[
		'extra fields that are a list',
		{ ...sound(), options: { extraFields: '[1]' } },
		/not a JSON object/,
	],
	[
		'extra fields that are not JSON',
		{ ...sound(), options: { extraFields: '{a: 1}' } },
		/not valid JSON/,
	],
	['max active tasks 0', { ...sound(), options: { maxActiveTasks: 0 } }, /"Max Active Tasks"/],
	['max file size below 0', { ...sound(), options: { maxFileSize: -1 } }, /"Max File Size \(MB\)"/],
	[
		'callback URL that is none',
		{ ...sound(), waitForCompletion: false, callbackUrl: 'example' },
		/Callback URL can't be used: it is not a URL/,
	],
	[
		'callback URL of another protocol',
		{ ...sound(), waitForCompletion: false, callbackUrl: 'ftp://example.com/x' },
		/starts with "ftp:"/,
	],
];

test.each(cases)('%s is refused before anything is sent', async (_, parameters, message) => {
	const { error } = await setting.run({ parameters });
	expect(error?.message).toMatch(message);
	expect(error?.description).toBeTruthy();
	expect(setting.service.requests).toHaveLength(0);
	const { output } = await setting.run({ parameters, settings: goOn });
	expect(output[0]?.json).toEqual({ error: error?.message, outcome: 'invalid' });
	expect(setting.service.requests).toHaveLength(0);
});

const credentials: Array<[string, Record<string, string>, RegExp]> = [
	['a base URL that is none', { baseUrl: 'service' }, /Base URL of the credential is not a URL/],
	['no base URL', { baseUrl: '' }, /has no Base URL/],
	[
		'credentials in the base URL',
		{ baseUrl: 'https://me:pw@example.com' },
		/user name or password/,
	],
	['a query in the base URL', { baseUrl: 'https://example.com/?a=1' }, /contains a query/],
	['plain http to a public host', { baseUrl: 'http://example.com' }, /http for a public host/],
	['a key without sk_', { apiKey: 'key_12345678' }, /does not start with "sk_"/],
	['no key', { apiKey: '' }, /has no API key/],
];

test.each(credentials)('%s is refused before anything is sent', async (_, credential, message) => {
	for (const parameters of [sound(), { resource: 'credits', operation: 'get' }]) {
		const { error } = await setting.run({ parameters, credentials: credential });
		expect(error?.message).toMatch(message);
		expect(error?.description).toMatch(/Nothing was sent/);
		expect(error?.message).not.toContain('key_12345678');
	}
	expect(setting.service.requests).toHaveLength(0);
});

test('one bad item among good ones: nothing is created without Continue On Fail, the good ones are with it', async () => {
	const items = [{ text: 'One' }, { text: '' }, { text: 'Three' }];
	const parameters = { ...sound('={{ $json.text }}'), downloadOutput: false };
	const { error } = await setting.run({ items, parameters });
	expect(error?.message).toMatch(/"Text" is empty/);
	expect(setting.service.creations()).toHaveLength(0);
	const { output } = await setting.run({ items, parameters, settings: goOn });
	expect(output.map(({ json }) => json.outcome ?? json.status)).toEqual([
		'done',
		'invalid',
		'done',
	]);
	expect(setting.service.creations()).toHaveLength(2);
});

test('a callback URL on this machine is refused for a public service', async () => {
	const { error } = await setting.run({
		parameters: {
			...sound(),
			waitForCompletion: false,
			callbackUrl: 'http://localhost:5678/webhook/x',
		},
		credentials: { baseUrl: 'https://api.example.com' },
	});
	expect(error?.message).toMatch(/the service can't reach localhost/);
});

test('fewer credits than the minimum: nothing is created', async () => {
	setting.service.settings.credits = 40;
	const parameters = { ...sound(), options: { minimumCredits: 50 } };
	const { error } = await setting.run({ parameters });
	expect(error?.message).toBe(
		'The account has 40 credits, fewer than the 50 that Min Credits asks for',
	);
	setting.service.faults.add({ route: 'credits', action: { type: 'status', status: 401 } });
	const unread = await setting.run({ parameters });
	expect(unread.error?.message).toMatch(/balance could not be read, so nothing was created/);
	expect(setting.service.creations()).toHaveLength(0);
});
