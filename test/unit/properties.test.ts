/** Whatever a service answers or a sender posts: no crash, no hang, no key, and always one of the documented outcomes. */
import fc from 'fast-check';
import { anyCodePoint } from './codePoint';
import type { IExecuteFunctions } from 'n8n-workflow';
import { readPosted, CallRefusal } from '../../nodes/MediaGeneration/callback/webhook';
import { taskIdProblem } from '../../nodes/MediaGeneration/operations/fields';
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
import { readNotes } from '../../nodes/MediaGeneration/sleep/notes';

fc.configureGlobal({ seed: 20_260_301, numRuns: 200 });
afterAll(() => fc.resetConfigureGlobal());
// How long it takes says something of the machine only.
jest.setTimeout(120_000);

const KEY = 'sk_a1b2c3d4e5f6';

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

test('any thrown thing is read without a crash, and counts as sent unless it says otherwise', () => {
	fc.assert(
		fc.property(fc.anything(), (thrown) => {
			expect(typeof reasonOf(thrown)).toBe('string');
			expect(connectionOf(thrown)).toBe('unanswered');
		}),
	);
});
