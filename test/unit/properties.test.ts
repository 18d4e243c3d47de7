/** Whatever a service answers or a sender posts: no crash, no hang, no key, and always one of the documented outcomes. */
import fc from 'fast-check';
import { anyCodePoint } from './codePoint';
import type { IExecuteFunctions } from 'n8n-workflow';
import { readPosted, CallRefusal } from '../../nodes/MediaGeneration/callback/webhook';
import { prepareReceiveUrl } from '../../nodes/MediaGeneration/callback/receiveUrl';
import { checkSignature } from '../../nodes/MediaGeneration/callback/signature';
import { problemWith, typeBySignature } from '../../nodes/MediaGeneration/delivery/mimeType';
import { deepMerge, taskIdProblem } from '../../nodes/MediaGeneration/operations/fields';
import { retryAfterMs } from '../../nodes/MediaGeneration/service/account';
import {
	createClient,
	type Answer,
	type NoAnswer,
	type Reply,
} from '../../nodes/MediaGeneration/service/client';
import { readLook } from '../../nodes/MediaGeneration/service/look';
import { connectionOf, reasonOf } from '../../nodes/MediaGeneration/base/networkError';
import { addressesIn } from '../../nodes/MediaGeneration/service/verdict';
import { outputsOf } from '../../nodes/MediaGeneration/service/outputs';
import {
	apiKeysOf,
	creditsOf,
	parseTask,
	taskIdOf,
} from '../../nodes/MediaGeneration/service/task';
import { isObject } from '../../nodes/MediaGeneration/base/json';
import { readCreation } from '../../nodes/MediaGeneration/create/creation';
import { busyDelay, nextLook } from '../../nodes/MediaGeneration/wait/schedule';
import { readNotes } from '../../nodes/MediaGeneration/sleep/notes';

fc.configureGlobal({ seed: 20_260_301, numRuns: 200 });
afterAll(() => fc.resetConfigureGlobal());
// How long it takes says something of the machine only.
jest.setTimeout(120_000);

const KEY = 'sk_a1b2c3d4e5f6';
const NOW = 1_772_366_400_000;

/** Names that the code looks for, that prototypes have, or any other. */
const FIELDS =
	'success,status,data,id,task_id,progress,type,metadata,error,message,error_message,code,detail,credits,keys,output_uri,audio_url,result_images,imageUrl,srt_url,__proto__,constructor,toString';
const name = fc.oneof(
	fc.constantFrom(...FIELDS.split(','), KEY),
	fc.string({ unit: anyCodePoint, maxLength: 8 }),
);
const WORDS = ['done', 'error', 'doing', 'server_busy', 'active_task_limit', 'daily cap'];
WORDS.push(
	'https://files.example/a.mp3',
	'https://',
	'\ud800',
	'\udc00x',
	'',
	KEY,
	`Bearer ${KEY}`,
);
const leaf = fc.oneof(
	fc.constantFrom(...WORDS),
	fc.string({ unit: anyCodePoint, maxLength: 20 }),
	fc.constantFrom(null, true, false, 0, -1, 1e308, -1e308, 1e-320, 2 ** 53 + 2),
	fc.double({ noNaN: true }),
);
const json = fc.letrec<{ value: unknown }>((tie) => ({
	value: fc.oneof(
		{ maxDepth: 5, withCrossShrink: true },
		leaf,
		fc.array(tie('value'), { maxLength: 4 }),
		fc
			.array(fc.tuple(name, tie('value')), { maxLength: 6 })
			.map((entries) => Object.fromEntries(entries)),
	),
})).value;
/** Deeper than any stack. */
const depth = fc.constantFrom(1, 7, 120, 20_000);
/** What a service could send, as text: also endless nesting and half of a JSON. */
const text = fc.oneof(
	{ weight: 8, arbitrary: json.map((value) => JSON.stringify(value)) },
	{
		weight: 1,
		arbitrary: depth.map((levels) => `${'{"data":'.repeat(levels)}1${'}'.repeat(levels)}`),
	},
	{
		weight: 1,
		arbitrary: depth.map(
			(levels) =>
				`{"task_id":"t","status":"done","metadata":${'['.repeat(levels)}${']'.repeat(levels)}}`,
		),
	},
	{ weight: 1, arbitrary: fc.string({ unit: anyCodePoint }) },
);
const object = json.map((value) => (isObject(value) ? value : { value }));

/** With halves of letters replaced, as they are on the way through a URL. */
const wellFormed = (given: string) => Buffer.from(given).toString();

/** What came over the wire. */
interface Wire {
	status: number;
	raw: string;
	retryAfter?: unknown;
}

/** What the network's door makes of it. */
async function received({ status, raw, retryAfter }: Wire): Promise<Answer> {
	const context = {
		getCredentials: async () =>
			await Promise.resolve({ apiKey: KEY, baseUrl: 'https://api.example' }),
		helpers: {
			httpRequestWithAuthentication: async () =>
				await Promise.resolve({
					statusCode: status,
					headers: { 'retry-after': retryAfter },
					body: raw,
				}),
		},
	};
	const client = await createClient(context as unknown as IExecuteFunctions);
	const request = { method: 'GET', path: '/x', purpose: 'read', timeoutMs: 1_000 } as const;
	const got = await client.send(request);
	if (!got.answered) throw new Error(got.reason);
	return got;
}
const parsed = async (raw: string) => (await received({ status: 200, raw })).body;
const header = fc.oneof(
	fc.constantFrom('5', '-1', '1e400', 'Infinity', 'Wed, 21 Oct 2099 07:28:00 GMT', ''),
	fc.string({ unit: anyCodePoint }),
	json,
);
const wire: fc.Arbitrary<Wire | NoAnswer> = fc.oneof(
	fc.record({
		status: fc.oneof(
			fc.constantFrom(200, 201, 302, 400, 401, 402, 403, 404, 408, 422, 429, 500, 502, 503, 504),
			fc.integer({ min: 100, max: 999 }),
		),
		raw: text,
		retryAfter: header,
	}),
	fc
		.record({
			kind: fc.constantFrom('unanswered', 'unconnected', 'impossible'),
			reason: fc.string({ unit: anyCodePoint }),
		})
		.map((fields): NoAnswer => ({ answered: false, ...fields })),
);
/** For every reply that the door can hand on. */
async function forReplies(check: (given: Reply) => void): Promise<void> {
	await fc.assert(
		fc.asyncProperty(wire, async (given) => {
			check('answered' in given ? given : await received(given));
		}),
	);
}

describe('answers', () => {
	test('a creation is created, sent again or failed with an outcome; and what is unclear is never sent again', async () => {
		await forReplies((given) => {
			const creation = readCreation(given);
			if (creation.kind === 'created') {
				expect(creation.taskId).not.toBe('');
				return;
			}
			const { outcome, message, description } = creation.failure;
			expect(['rejected', 'unknown']).toContain(outcome);
			expect(message.length).toBeGreaterThan(0);
			expect(message.length).toBeLessThan(1_000 + (given.answered ? 0 : given.reason.length));
			expect(description.length).toBeGreaterThan(0);
			if (creation.kind === 'retry' || creation.kind === 'full' || creation.kind === 'limited') {
				expect(outcome).toBe('rejected');
				const nothingCreated = given.answered
					? given.status === 429 ||
						given.status === 503 ||
						(isObject(given.body) && given.body.success === false)
					: given.kind !== 'unanswered';
				expect(nothingCreated).toBe(true);
			}
			if (given.answered && given.status >= 500 && creation.kind === 'failed')
				expect(outcome).toBe('unknown');
		});
	});

	test("a look is one of five, and only a 401 or 403 in the service's own words, or without any, is a refusal", async () => {
		await forReplies((given) => {
			const look = readLook(given, 't1');
			expect(['task', 'doubtful', 'busy', 'missing', 'denied']).toContain(look.kind);
			expect(look.kind === 'denied').toBe(
				given.answered &&
					(given.status === 401 || given.status === 403) &&
					(isObject(given.body) || given.text === ''),
			);
			expect(look.kind === 'missing').toBe(given.answered && given.status === 404);
			if (look.kind === 'task') expect(['running', 'done', 'failed']).toContain(look.task.state);
		});
	});
});

/** All texts and numbers of the two levels that an ID can stand on. */
function textsIn(body: unknown): string[] {
	const levels = isObject(body) ? [body, isObject(body.data) ? body.data : {}] : [];
	return levels
		.flatMap((level) => Object.values(level))
		.filter((value) => typeof value === 'string' || typeof value === 'number')
		.map((value) => String(value).trim());
}

test('parsing takes anything, and says only what is there', async () => {
	await fc.assert(
		fc.asyncProperty(text, async (raw) => {
			const body = await parsed(raw);
			const task = parseTask(body);
			if (task !== undefined) {
				expect(task.status).not.toBe('');
				expect(task.progress === undefined || (task.progress >= 0 && task.progress <= 100)).toBe(
					true,
				);
				const outputs = outputsOf(task, addressesIn(body));
				expect(new Set(outputs.map(({ url }) => url)).size).toBe(outputs.length);
				for (const { url } of outputsOf(task)) expect(url).toMatch(/^https?:/i);
			}
			const taskId = taskIdOf(body);
			// A number is an ID as well.
			if (taskId !== undefined) expect(textsIn(body)).toContain(taskId);
			expect(Number.isNaN(creditsOf(body) ?? 0)).toBe(false);
			for (const record of apiKeysOf(body) ?? []) expect(isObject(record)).toBe(true);
			try {
				const posted = readPosted(Buffer.from(raw), body);
				expect(taskIdProblem(posted.taskId)).toBeUndefined();
			} catch (error) {
				expect(error).toBeInstanceOf(CallRefusal);
			}
			const notes = readNotes(body);
			if (typeof notes !== 'string') expect(notes.items).toBeInstanceOf(Array);
		}),
	);
});

test('merging takes every value of the extra fields, pollutes nothing and changes neither side', () => {
	fc.assert(
		fc.property(object, object, (base, extra) => {
			const before = JSON.stringify([base, extra]);
			const merged = deepMerge(base, extra);
			expect(JSON.stringify([base, extra])).toBe(before);
			expect(Object.getPrototypeOf(merged)).toBe(Object.prototype);
			expect(Object.keys(Object.prototype)).toEqual([]);
			for (const [key, value] of Object.entries(extra)) {
				if (key !== '__proto__' && !isObject(value)) expect(merged[key]).toBe(value);
			}
		}),
	);
});

describe('signed URLs', () => {
	const credentials = {
		baseUrl: 'https://api.example',
		apiKey: KEY,
		callbackSecret: 'a long secret',
	};
	const path = fc.array(
		fc
			.string({ unit: anyCodePoint, maxLength: 8 })
			.map((part) => encodeURIComponent(wellFormed(part))),
		{ maxLength: 4 },
	);
	const signed = fc
		.record({
			path,
			reference: fc.string({ unit: anyCodePoint, maxLength: 60 }),
			tenant: fc.string(),
		})
		.map(({ path: parts, reference, tenant }) => {
			const hook = new URL(`https://n8n.example/webhook/${parts.join('/')}`);
			hook.searchParams.set('tenant', tenant);
			return {
				reference,
				url: new URL(prepareReceiveUrl(hook.href, credentials, { reference, now: NOW })),
			};
		});
	const check = (url: URL, now = NOW) =>
		checkSignature(
			'a long secret',
			{ path: url.pathname, ownUrl: url.href, claimedHosts: [], at: now },
			Object.fromEntries(url.searchParams),
		);

	test('what was signed is accepted, with its reference', () => {
		fc.assert(
			fc.property(signed, ({ url, reference }) => {
				expect(check(url)).toEqual({
					ok: true,
					signed: true,
					reference: reference === '' ? undefined : wellFormed(reference),
				});
				expect(url.href).not.toContain('secret');
			}),
		);
	});

	test('one changed character anywhere is refused', () => {
		fc.assert(
			fc.property(
				signed,
				fc.constantFrom('signed_for', 'expires', 'nonce', 'reference', 'signature'),
				fc.nat(),
				fc.constantFrom('0', 'x', 'é'),
				({ url }, field, at, other) => {
					const value = url.searchParams.get(field) ?? '';
					const position = at % (value.length + 1);
					const changed = value.slice(0, position) + other + value.slice(position + 1);
					fc.pre(wellFormed(changed) !== value);
					url.searchParams.set(field, changed);
					expect(check(url).ok).toBe(false);
				},
			),
		);
	});
});

describe('schedule', () => {
	const ms = fc.oneof(
		fc.integer({ min: 0, max: 11_000_000 }),
		fc.double({ min: 0, max: 1e9, noNaN: true }),
		fc.constantFrom(0, 1e12),
	);
	const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

	test('every pause is finite, above zero and bounded, whatever the progress says', () => {
		const samples = fc.array(
			fc.record({ ageMs: ms, progress: fc.double({ min: 0, max: 100, noNaN: true }) }),
			{ maxLength: 12 },
		);
		fc.assert(
			fc.property(
				ms,
				samples,
				fc.array(ms, { maxLength: 8 }),
				random,
				(ageMs, seen, siblingAgesMs, chance) => {
					const known = { endWanted: false, byAgeMs: 0, siblingAgesMs };
					const history = { ageMs, samples: seen, ...known };
					const { delayMs, byAgeMs } = nextLook(history, chance);
					expect(Number.isFinite(delayMs)).toBe(true);
					expect(delayMs).toBeGreaterThan(0);
					expect(delayMs).toBeLessThanOrEqual(480_000);
					const then = { ...history, ageMs: ageMs + delayMs, byAgeMs };
					expect(nextLook(then, chance).delayMs).toBeGreaterThan(0);
				},
			),
		);
	});

	test('so is every pause for a busy service', () => {
		fc.assert(
			fc.property(
				fc.integer({ min: 1, max: 1_000_000 }),
				ms,
				header,
				random,
				(streak, ageMs, given, chance) => {
					const busy = { streak, ageMs, retryAfterMs: retryAfterMs({ 'retry-after': given }) };
					const delay = busyDelay(busy, chance);
					expect(Number.isFinite(delay)).toBe(true);
					expect(delay).toBeGreaterThan(0);
					expect(delay).toBeLessThanOrEqual(301_000);
				},
			),
		);
	});
});

test('any thrown thing is read without a crash, and counts as sent unless it says otherwise', () => {
	fc.assert(
		fc.property(fc.anything(), (thrown) => {
			expect(typeof reasonOf(thrown)).toBe('string');
			expect(connectionOf(thrown)).toBe('unanswered');
		}),
	);
});

describe('what file hosts send', () => {
	const about = fc.record({
		kind: fc.constantFrom(
			'audio' as const,
			'image' as const,
			'transcript' as const,
			'file' as const,
		),
		url: fc.constantFrom(
			'https://f.example/x',
			'https://f.example/x.mp4',
			'https://f.example/x.srt',
		),
		stated: fc.option(fc.string({ unit: anyCodePoint, maxLength: 30 }), { nil: undefined }),
	});

	test('words are neither sound nor a picture, whatever their encoding', () => {
		const words = fc.array(fc.string({ unit: 'grapheme-ascii', minLength: 1 }), { minLength: 1 });
		const encoding = fc.constantFrom('utf8' as const, 'utf16le' as const, 'latin1' as const);
		fc.assert(
			fc.property(words, encoding, about, (given, named, file) => {
				const text = given.join(' ');
				const head = Buffer.from(named === 'utf16le' ? `\ufeff${text}` : text, named);
				fc.pre(typeBySignature(head) === undefined);
				for (const kind of ['audio', 'image'] as const)
					expect(problemWith(head, { ...file, kind })).toMatch(/instead of the file/);
			}),
		);
	});
});
