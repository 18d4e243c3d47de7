/** What leaves holds no key, no secret and no token; everything else leaves as it is. */
import { Cleaner, cleanerOf, cleanly } from '../../nodes/MediaGeneration/n8n/clean';
import { inBackground, logOf } from '../../nodes/MediaGeneration/n8n/log';
import { showHint } from '../../nodes/MediaGeneration/n8n/editor';
import { fakeN8n } from '../support/n8n';

const KEY = 'sk_Ab1-cd2_ef3456';
const SECRET = 'a "secret" of 100 %, \\ and ü';
const TOKEN = 'e'.repeat(64);

function cleaner(): Cleaner {
	const made = new Cleaner();
	made.knows({ apiKey: KEY, callbackSecret: SECRET });
	return made;
}

describe('the key and the secret go', () => {
	const everyByte = (text: string) =>
		[...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
	const everyUnit = (text: string) =>
		text.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
	test.each([
		...[KEY, SECRET, `key=${KEY}&x=1`],
		...[KEY, SECRET].flatMap((secret) => [
			encodeURIComponent(secret),
			everyByte(secret),
			everyByte(secret).toUpperCase(),
			everyByte(secret).replaceAll('%', '%25'),
			everyByte(secret).replaceAll('%', '\\u0025'),
			everyUnit(secret),
			everyUnit(secret).replaceAll('\\', '\\\\'),
			JSON.stringify(secret).slice(1, -1),
			`${everyUnit(secret.slice(0, 2))}${secret.slice(2)}`,
		]),
	])('from texts, names, IDs and whatever is nested: %s', (form) => {
		// What a service names so is no Date.
		const named = (text: string) => ({ toJSON: 1, a: `x ${text} y` });
		const clean = cleaner().value({ [form]: 1, id: `a-${form}`, list: [named(form)] });
		const stars = cleaner().text(form);
		expect(stars).toMatch(/^(key=)?(sk_)?\*\*\*(&x=1)?$/);
		expect(clean).toEqual({ [stars]: 1, id: `a-${stars}`, list: [named(stars)] });
	});

	test('and an empty secret erases nothing', () => {
		const made = new Cleaner();
		made.knows({ apiKey: KEY, callbackSecret: '' });
		expect(made.text(`abc ${KEY}`)).toBe('abc sk_***');
	});
});

const RESUME = `https://n8n.example/webhook-waiting/12/node?signature=${TOKEN}`;
const WAKING = `https://n8n.example/webhook-waiting/12/media-generation?signature=${TOKEN}`;
const SIGNED = `https://n8n.example/webhook/1/callback?reference=a&expires=1&nonce=${'0a'.repeat(12)}&signature=${TOKEN}&a=b`;

describe('tokens', () => {
	test.each([
		SIGNED,
		RESUME,
		`see ${RESUME} or "${SIGNED}"`,
		`http://n8n.example/form-waiting/7?a=b&signature=${TOKEN}`,
		'https://n8n.example/webhook-waiting/5f0c-11/node?signature=' + TOKEN,
		// N8N_ENDPOINT_WEBHOOK_WAIT gives them another name.
		...[SIGNED, RESUME, WAKING.replace('webhook-waiting', 'asleep')].flatMap((url) => [
			encodeURIComponent(url),
			url.replaceAll('&', '&amp;'),
			`?url=${encodeURIComponent(url)}&page=1`,
			url.replace('https://n8n.example', ''),
			`{"url":"${url}"}`,
			// As PHP and Gson write JSON, which a message can quote.
			`{"url":"${url.replaceAll('/', '\\/')}"}`,
			`{"url":"${url.replaceAll('=', '\\u003d')}"}`,
		]),
	])('of addresses of this n8n go, whoever has sent them: %s', (text) => {
		expect(new Cleaner().text(text)).toBe(text.replaceAll(TOKEN, '***'));
		expect(new Cleaner().value({ list: [text] })).toEqual({
			list: [text.replaceAll(TOKEN, '***')],
		});
	});

	test.each([
		`https://files.example/a.mp3?signature=${TOKEN}&expires=12`,
		`https://files.example/waiting/12/a.mp3?signature=${TOKEN}`,
		`https://files.example/a/media-generation?signature=${TOKEN}`,
		`https://files.example/a.mp3?nonce=12&Signature=${TOKEN}`,
		'https://files.example/signature=/a.mp3',
		`${RESUME.split('?')[0]} is one word, signature=${TOKEN} another`,
	])('of files stay: %s', (text) => {
		expect(cleaner().text(text)).toBe(text);
	});
});

test('the token by which this run can be called goes, wherever it stands', () => {
	const made = cleaner();
	made.hasUrl(`https://n8n.example/sleepers/12/a?signature=${TOKEN}`);
	for (const none of [undefined, 'no URL', 'https://n8n.example/?signature=short'])
		made.hasUrl(none);
	expect(made.value({ q: `x${TOKEN}y`, t: 'short' })).toEqual({ q: 'x***y', t: 'short' });
});

test('what is clean is returned as it is, what is not is copied', () => {
	const part = { date: new Date(0), none: null, n: 1, big: [1, 'a'] };
	const dirty = { part, text: KEY, ['__proto__']: 1 };
	const clean = cleaner().value(dirty);
	expect(clean).toEqual({ part, text: 'sk_***', ['__proto__']: 1 });
	expect(dirty.text).toBe(KEY);
	expect(cleaner().value(part)).toBe(part);
});

test('circles and endless nesting end', () => {
	const circle: Record<string, unknown> = { text: KEY };
	circle.self = circle;
	circle.again = [circle, circle];
	const clean = cleaner().value(circle);
	expect(clean.text).toBe('sk_***');
	expect(clean.self).toBe(clean);
	const deep = JSON.parse('['.repeat(50_000) + `"${KEY}"` + ']'.repeat(50_000)) as unknown;
	expect(cleaner().value(deep)).toBeDefined();
});

test('hints and the log have neither key, secret nor token, and break nothing', () => {
	const { context, logs, hints } = fakeN8n();
	context.logger.warn = () => JSON.parse('') as void;
	cleanerOf(context).knows({ apiKey: KEY, callbackSecret: SECRET });
	logOf(context).info(`task t1 of ${KEY}, ${SECRET}, ${RESUME}`);
	logOf(context).warn('lost');
	showHint(context, 'warning', `of ${KEY} and ${SECRET}`);
	expect(hints.map(({ message }) => message)).toEqual(['of sk_*** and ***']);
	logOf(context).info('task t1\r\n2026 forged\u001b[2J\u0085\u2028\u202e end');
	expect(logs).toEqual([
		`Media Generation: task t1 of sk_***, ***, ${RESUME.replace(TOKEN, '***')}`,
		'Media Generation: task t1 2026 forged [2J  end',
	]);
});

describe('what leaves a run', () => {
	const context = {};
	cleanerOf(context).knows({ apiKey: KEY, callbackSecret: SECRET });

	test('is cleaned: items with their hidden errors, but not their files', async () => {
		const data = Buffer.from(KEY).toString('base64');
		const error = new Error(KEY);
		// Made when it is first read.
		expect(error.stack).toContain(KEY);
		const item = { json: { text: KEY }, binary: { data: { data, mimeType: 'text/plain' } } };
		Object.defineProperty(item, 'error', { value: error, enumerable: false });
		const [out] = await cleanly(context, async () => await Promise.resolve([item]));
		expect(out).toEqual({ json: { text: 'sk_***' }, binary: item.binary });
		expect([out?.error?.message, error.stack]).toEqual([
			'sk_***',
			expect.not.stringContaining(KEY) as string,
		]);
	});

	test('is cleaned when it is thrown, with its causes; its messages are one line each', async () => {
		const cause = new Error(`because of ${KEY}`);
		const thrown = Object.assign(new Error(`no\r\n<a>${KEY}`, { cause }), {
			description: [`${KEY}\n`],
			messages: ['of a\r\nb\u001b[1m'],
			context: { data: { of: KEY } },
			// A NodeApiError has it, and n8n saves it with the execution.
			errorResponse: { error: `of ${KEY}` },
		});
		cause.cause = thrown;
		await expect(cleanly(context, async () => await Promise.reject(thrown))).rejects.toBe(thrown);
		expect(thrown).toMatchObject({
			message: 'no ‹a›sk_***',
			description: ['sk_***\n'],
			messages: ['of a b [1m'],
			context: { data: { of: 'sk_***' } },
			errorResponse: { error: 'of sk_***' },
		});
		expect(`${thrown.stack} ${cause.message} ${cause.stack}`).not.toContain(KEY);
	});
});

test.each<[string, string]>([
	['marks', `-waiting/1?${'&nonce=000000000000000000000000'.repeat(130_000)}`],
	['half marks', 'nonce='.repeat(600_000)],
	['signatures', `-waiting/1?${'signature='.repeat(400_000)}`],
	['keys that lack a character', `${KEY.slice(0, -1)} `.repeat(200_000)],
])('4 MB of %s are read to their end', (_name, text) => {
	expect(cleaner().text(text)).toBeDefined();
});

test('work that fails in the background is one line of the log', async () => {
	const { context, warnings } = fakeN8n();
	inBackground(context, Promise.reject(new Error('broken')));
	await new Promise((resolve) => setImmediate(resolve));
	expect(warnings).toEqual(['Media Generation: unexpected failure: broken']);
});
