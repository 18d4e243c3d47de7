/** What leaves holds no key, no secret and no token; everything else leaves as it is. */
import { Cleaner, cleanerOf, cleanly, logOf } from '../../nodes/MediaGeneration/n8n/clean';

/** With what each spelling has escapes for; `???` and `>>>` are the two digits in which base64 and base64url differ. */
const KEY = 'sk_Ab1/cd2+ef3&<g>"4???>>>';
const SECRET = 'estimated_credits';
const TOKEN = 'e'.repeat(64);

function cleaner(apiKey = KEY, callbackSecret = SECRET): Cleaner {
	const made = new Cleaner();
	made.knows({ apiKey, callbackSecret });
	return made;
}

const everyChar = (form: (code: number) => string) =>
	[...KEY].map((character) => form(character.charCodeAt(0))).join('');
const NAMES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const hex = (code: number) => code.toString(16).padStart(2, '0');
const base64 = (text: string) => Buffer.from(text).toString('base64');

describe('the key goes', () => {
	test.each<[string, string]>([
		['as it is', KEY],
		['from an address', encodeURIComponent(KEY)],
		['each character of it escaped for an address', everyChar((code) => `%${hex(code)}`)],
		['the same in capitals', everyChar((code) => `%${hex(code).toUpperCase()}`)],
		['the same twice', everyChar((code) => `%25${hex(code)}`)],
		['from HTML', KEY.replace(/[&<>"]/g, (x) => NAMES[x] ?? x)],
		['as numbers in HTML', everyChar((code) => `&#${code};`)],
		['as hexadecimal numbers in HTML', everyChar((code) => `&#x${hex(code)};`)],
		['escaped for JSON', everyChar((code) => `\\u00${hex(code)}`)],
	])('%s', (_name, form) => {
		expect(cleaner().text(`before ${form} after ${form}`)).toBe('before sk_*** after sk_***');
	});

	test.each(['', 'u', 'us', 'user:', 'Bearer ', 'X-Key: '])(
		'from the base64 of %j and it',
		(head) => {
			for (const text of [base64(`${head}${KEY} and so on`), base64(head + KEY)]) {
				const clean = cleaner().text(`Basic ${text}`);
				expect(clean).toContain('sk_***');
				const rest = Buffer.from(clean.replace('sk_***', '').slice(6), 'base64').toString();
				expect(rest).not.toContain(KEY.slice(3, 8));
				const url = Buffer.from(head + KEY).toString('base64url');
				expect(cleaner().text(url)).toContain('sk_***');
			}
		},
	);

	test('from names, IDs and whatever is nested', () => {
		expect(cleaner().value({ [KEY]: 1, id: KEY, list: [{ a: `x ${KEY}` }] })).toEqual({
			'sk_***': 1,
			id: 'sk_***',
			list: [{ a: 'x sk_***' }],
		});
	});
});

test.each(['task_1234', 'task_sk_1', 'sk_12', 'a-sk_1', 'sk_1-a', base64('sk_1')])(
	'%s stays, though the key is sk_1',
	(text) => {
		expect(cleaner('sk_1').value({ id: text, text })).toEqual({ id: text, text });
	},
);

test('a key as short as sk_1 goes where it stands alone', () => {
	expect(cleaner('sk_1').text('"sk_1", Bearer sk_1.')).toBe('"sk_***", Bearer sk_***.');
});

describe('the callback secret', () => {
	test('goes from texts, but from no name and no ID: there it is by accident', () => {
		const ids = { id: SECRET, task_id: `a-${SECRET}`, task_ids: [SECRET], taskId: SECRET };
		const texts = ['note', 'list', 'paid', 'idea', 'my_idea', 'myIdea', 'aid'];
		const all = (text: string) => Object.fromEntries(texts.map((name) => [name, text]));
		const value = { ...ids, [SECRET]: 5, in: [SECRET] };
		const clean = { ...value, in: ['***'], ...all('***') };
		expect(cleaner().value({ ...value, ...all(SECRET) })).toEqual(clean);
	});

	test('that is empty erases nothing', () => {
		expect(cleaner(KEY, '').text('abc')).toBe('abc');
	});
});

const RESUME = `https://n8n.example/webhook-waiting/12/node?signature=${TOKEN}`;
const SIGNED = `https://n8n.example/webhook/1/callback?signed_for=x&expires=1&signature=${TOKEN}&a=b`;

describe('tokens', () => {
	test.each([
		SIGNED,
		RESUME,
		`see ${RESUME} or "${SIGNED}"`,
		`http://n8n.example/form-waiting/7?a=b&signature=${TOKEN}`,
		...[SIGNED, RESUME].flatMap((url) => [
			...[url.replaceAll('&', '&amp;'), url.replaceAll('&', '\\u0026').replaceAll('=', '\\u003d')],
			...[url.replaceAll('/', '\\/'), encodeURIComponent(encodeURIComponent(url))],
			...[`https://log.example/?url=${url}`, `?url=${encodeURIComponent(url)}&page=1`],
			...[url.replace('https://n8n.example', ''), `{"url":"${url}"}`],
		]),
		SIGNED.replace(/signed_for=x&(.*?)&a=b/, '$1&signed_for=x'),
	])('of addresses of this package go, whoever has sent and escaped them: %s', (text) => {
		expect(new Cleaner().text(text)).toBe(text.replaceAll(TOKEN, '***'));
	});

	test.each([
		`https://files.example/a.mp3?signature=${TOKEN}&expires=12`,
		`https://files.example/waiting/12/a.mp3?signature=${TOKEN}`,
		`https://files.example/a.mp3?of=x-waiting/12&signature=${TOKEN}`,
		`https://files.example/a.mp3?Signature=${TOKEN}&signed_forever=1`,
		'https://files.example/signature=/a.mp3',
		'no address',
	])('of files stay: %s', (text) => {
		expect(cleaner().text(text)).toBe(text);
	});

	test('that were sent go wherever they stand, whatever the address looks like', () => {
		const sent = `https://n8n.example/sleepers/12/a?signature=${TOKEN}`;
		const made = cleaner();
		made.hasSent(sent);
		expect(made.value({ q: encodeURIComponent(sent), t: TOKEN })).toEqual({
			q: encodeURIComponent(sent).replace(TOKEN, '***'),
			t: '***',
		});
	});

	test.each(['', 'u', 'us', 'a longer head '])(
		'go from names, IDs and base64 behind %j',
		(head) => {
			const made = cleaner();
			const other = 'f'.repeat(32) + '0'.repeat(32);
			for (const token of [TOKEN, other]) made.hasSent(`https://n8n.example/?signature=${token}`);
			const encoded = base64(`${head}${other} and so on`);
			expect(made.text(other.toUpperCase())).toBe('***');
			const clean = made.value({
				...{ request_id: `a-${TOKEN}`, [`x${other}y`]: 1, encoded, ids: [TOKEN + other] },
			});
			expect(clean).toMatchObject({ request_id: 'a-***', 'x***y': 1, ids: ['******'] });
			const [before = '', after = ''] = clean.encoded.split('***');
			expect(Buffer.from(before, 'base64').toString()).toBe(head.slice(0, before.length * 0.75));
			expect(encoded).toContain(after);
			expect(after.length).toBeLessThan(20);
		},
	);

	test('are looked for in pieces: five thousand in an answer with 99,000 texts', () => {
		const made = cleaner();
		const tokens = Array.from({ length: 5_000 }, (_, index) => String(index).padStart(64, 'ab'));
		for (const token of tokens) made.hasSent(`https://n8n.example/?signature=${token}`);
		const list = Array.from({ length: 99_000 }, (_, index) => `text ${tokens[index] ?? index}`);
		const others = Array.from({ length: 1_000 }, () => ({ json: {} }));
		const work = made.items([{ json: { list } }, ...others]);
		let pieces = 1;
		let step = work.next();
		for (; step.done !== true; step = work.next()) pieces += 1;
		expect(pieces).toBeGreaterThan(1_400);
		expect((step.value[0]?.json.list as string[]).slice(4_999, 5_001)).toEqual([
			'text ***',
			'text 5000',
		]);
	});

	test('of fewer than 16 characters are none, nor is what is no address', () => {
		const made = cleaner();
		for (const token of ['123456789012345', 'abcdefghijklmnop'])
			made.hasSent(`https://n8n.example/?signature=${token}`);
		for (const other of ['signature=abcdefghijklmnopq', undefined, 'https://n8n.example/'])
			made.hasSent(other);
		const text = '123456789012345 abcdefghijklmnop';
		expect(made.text(text)).toBe('123456789012345 ***');
	});
});

test('what is clean is returned as it is, what is not is copied', () => {
	const part = { date: new Date(0), none: null, n: 1 };
	const dirty = { part, text: KEY, __proto__: { inherited: KEY } };
	const clean = cleaner().value(dirty);
	expect(clean).toEqual({ part, text: 'sk_***' });
	expect(clean.part).toBe(part);
	expect(dirty.text).toBe(KEY);
	expect(cleaner().value(part)).toBe(part);
});

test('circles and endless nesting end', () => {
	const circle: Record<string, unknown> = { text: KEY };
	circle.self = circle;
	circle.again = [circle, circle];
	expect(cleaner().value(circle).text).toBe('sk_***');
	const deep = JSON.parse('['.repeat(50_000) + ']'.repeat(50_000)) as unknown;
	expect(cleaner().value(deep)).toBe(deep);
});

test('the log has neither key, secret nor token, and breaks nothing', () => {
	const lines: string[] = [];
	const logger = { info: (line: string) => lines.push(line), warn: () => JSON.parse('') as void };
	const context = { logger } as unknown as Parameters<typeof logOf>[0];
	cleanerOf(context).knows({ apiKey: KEY, callbackSecret: SECRET });
	cleanerOf(context).hasSent(`https://n8n.example/?signature=${TOKEN}`);
	logOf(context).info(`task t1 of ${KEY} (${encodeURIComponent(KEY)}), ${SECRET}, ${TOKEN}`);
	logOf(context).warn('lost');
	logOf(context).info('task t1\r\n2026 forged\u001b[2J\u0085\u2028\u202e end');
	expect(lines.pop()).toBe('task t1 2026 forged [2J  end');
	expect(lines).toEqual(['task t1 of sk_*** (sk_***), ***, ***']);
});

describe('what leaves a run', () => {
	const context = {};
	cleanerOf(context).knows({ apiKey: KEY, callbackSecret: SECRET });

	test('is cleaned: items with their hidden errors, but not their files', async () => {
		const binary = { data: { data: base64(KEY), mimeType: 'text/plain' } };
		const item = { json: { text: KEY }, binary };
		Object.defineProperty(item, 'error', { value: new Error(KEY), enumerable: false });
		const [out] = await cleanly(context, async () => await Promise.resolve([item]));
		expect(out).toEqual({ json: { text: 'sk_***' }, binary });
		expect(out?.error?.message).toBe('sk_***');
	});

	test('is cleaned once, however many items share it; a list for each name that it has', async () => {
		const [answer, list] = [{ text: KEY }, [SECRET]];
		const items = [1, 2].map((part) => ({ json: { part, answer, list, task_ids: list } }));
		const [one, two] = await cleanly(context, async () => await Promise.resolve(items));
		expect(two?.json).toEqual({
			...{ part: 2, answer: { text: 'sk_***' } },
			...{ list: ['***'], task_ids: [SECRET] },
		});
		expect(two?.json.answer).toBe(one?.json.answer);
	});

	test('is read by lines: no control characters in messages', async () => {
		const told = 'of a\r\nb\u001b[1m';
		const thrown = Object.assign(new Error(told), { description: told, messages: [told] });
		await expect(cleanly(context, async () => await Promise.reject(thrown))).rejects.toBe(thrown);
		expect(thrown).toMatchObject({
			message: 'of a b [1m',
			messages: ['of a b [1m'],
			description: told,
		});
	});

	test('is cleaned when it is thrown, with its causes', async () => {
		const cause = new Error(`because of ${KEY}`);
		const thrown = Object.assign(new Error(`no ${KEY}`, { cause }), { description: [KEY] });
		cause.cause = thrown;
		await expect(cleanly(context, async () => await Promise.reject(thrown))).rejects.toBe(thrown);
		expect(thrown).toMatchObject({ message: 'no sk_***', description: ['sk_***'] });
		expect(`${thrown.stack} ${cause.message} ${cause.stack}`).not.toContain(KEY);
	});
});

test.each<[string, string]>([
	['parameters', `signature= https://x.example/?${'&signed_for='.repeat(300_000)}`],
	['escapes', '%25'.repeat(1_000_000)],
	['entities', '&#0'.repeat(1_000_000)],
	['keys that lack a character', `${KEY.slice(0, -1)} `.repeat(200_000)],
])('4 MB of %s are read to their end', (_name, text) => {
	expect(cleaner().text(text) === text).toBe(true);
});
