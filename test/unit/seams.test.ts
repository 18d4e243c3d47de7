/** Real answers and posts that were cut, changed or filled up: nothing throws, no ID is lost, no key gets through. */
import fc from 'fast-check';
import type { INode } from 'n8n-workflow';
import { readCreation } from '../../nodes/MediaGeneration/task/creation';
import { maskSecrets } from '../../nodes/MediaGeneration/actions/account';
import { lists, pageIn } from '../../nodes/MediaGeneration/actions/lists';
import { readJson } from '../../nodes/MediaGeneration/base/bounded';
import { Cleaner, logOf } from '../../nodes/MediaGeneration/n8n/clean';
import { quote } from '../../nodes/MediaGeneration/base/failures';
import { nodeError } from '../../nodes/MediaGeneration/files/failure';
import type { Answer } from '../../nodes/MediaGeneration/transport/client';
import { apiKeysOf, creditsOf } from '../../nodes/MediaGeneration/transport/task';
import { readTaskList } from '../../nodes/MediaGeneration/transport/taskList';
import { scriptedClient } from '../support/replies';
import { VirtualClock } from '../support/virtualClock';
import { anyCodePoint } from './codePoint';

const KEY = 'sk_Ab1-cd2_ef3gh4';
const SECRET = 'a "secret" with 100%, \\ and ü';
const ID = '7f9c2ba4-e88f';
const CREATED = JSON.stringify({ success: true, task_id: ID, ec_remain_credits: 5, note: '"\\ü' });
const TASK = JSON.stringify({
	success: true,
	data: {
		id: ID,
		status: 'done',
		progress: 100,
		type: 'speech',
		metadata: { audio_url: 'https://files.example/a.mp3', list: [{ a: 1 }, null, 1e21] },
	},
});

/** As the door makes it. */
function answerOf(text: string, status = 200): Answer {
	return { answered: true, status, headers: {}, text, ...readJson(text) };
}

/** One to four places where something else stands, or nothing. */
const mutated = (text: string) =>
	fc
		.array(
			fc.record({
				at: fc.nat(text.length),
				cut: fc.nat(8),
				insert: fc.oneof(
					fc.constantFrom('{', '[', '"', '\\', ',', ':', '}', '[['.repeat(200), '9'.repeat(30)),
					fc.string({ unit: anyCodePoint, maxLength: 6 }),
				),
			}),
			{ minLength: 1, maxLength: 4 },
		)
		.map((changes) =>
			changes.reduce(
				(left, { at, cut, insert }) => left.slice(0, at) + insert + left.slice(at + cut),
				text,
			),
		);

test('a creation whose answer was cut off after its ID keeps the ID', () => {
	const after = CREATED.indexOf(ID) + ID.length + 1;
	fc.assert(
		fc.property(
			fc.integer({ min: after, max: CREATED.length }),
			fc.constantFrom(200, 201, 500, 502),
			(end, status) => {
				const creation = readCreation(answerOf(CREATED.slice(0, end), status));
				const taskId =
					creation.kind === 'created'
						? creation.taskId
						: creation.kind === 'unclear'
							? creation.failure.taskId
							: undefined;
				expect(taskId).toBe(ID);
			},
		),
	);
});

test('a changed creation is created or unclear as long as an ID stands in it', () => {
	fc.assert(
		fc.property(mutated(CREATED), (text) => {
			const { kind } = readCreation(answerOf(text));
			if (text.includes(`"task_id":"${ID}"`)) expect(['created', 'unclear']).toContain(kind);
		}),
	);
});

test('what is within the bound reads as JSON.parse reads it', () => {
	fc.assert(
		fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
			const text = JSON.stringify(value);
			const read = readJson(text);
			const exact = JSON.parse(text) as unknown;
			if (!/\d{16}/.test(text)) expect(read).toEqual({ body: exact });
			else expect(read.body).toBeDefined();
		}),
	);
});

test('the key goes from any JSON, in any of its forms, and nothing else does', () => {
	const cleaner = new Cleaner();
	cleaner.knows({ apiKey: KEY, callbackSecret: SECRET });
	const forms = [KEY, SECRET, encodeURIComponent(SECRET)];
	const value = fc.jsonValue({ maxDepth: 4, stringUnit: anyCodePoint });
	fc.assert(
		fc.property(value, fc.constantFrom(...forms), (json, form) => {
			expect(cleaner.value(json)).toBe(json);
			const dirty = { id: ID, around: [json, `x ${form} y`], [form]: json };
			const clean = JSON.stringify(cleaner.value(dirty));
			expect(clean).not.toContain(KEY);
			expect(clean).not.toContain(JSON.stringify(form).slice(1, -1));
			expect(clean).toContain(JSON.stringify(json));
			expect(clean).toContain(ID);
		}),
	);
});

test('whatever a service says is one line of a message and of a log, and no markup on screen', () => {
	const line: string[] = [];
	const logger = { info: (text: string) => line.push(text), warn: () => undefined };
	const log = logOf({ logger } as unknown as Parameters<typeof logOf>[0]);
	const text = fc.string({ unit: anyCodePoint });
	const controls = fc.constantFrom(
		'\r\n',
		'\u001b[2J',
		'\u0085',
		'\u2028',
		'\u202e',
		'\u061c',
		'\0',
		'<a href="x">',
	);
	fc.assert(
		fc.property(text, controls, (given, control) => {
			log.info(given + control + given);
			for (const shown of [line.pop(), quote(given + control + given)])
				expect(shown ?? '').not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u);
			const said = given + control;
			const failure = { outcome: 'failed', message: 'm', description: said } as const;
			const { description } = nodeError({} as INode, { failure, index: 0 });
			expect(description).not.toMatch(/[<>]/);
		}),
	);
});

/** Anything, or something with the fields that answers to reads have. */
const readAnswer = fc.oneof(
	fc.jsonValue({ maxDepth: 4 }),
	fc.dictionary(
		fc.constantFrom('data', 'credits', 'balance', 'api_keys', 'keys', 'tasks', 'voices', 'models'),
		fc.oneof(
			fc.jsonValue({ maxDepth: 2 }),
			fc.array(
				fc.dictionary(
					fc.constantFrom('id', 'task_id', 'key', 'secret', 'access_token', 'name', 'created_at'),
					fc.oneof(fc.constantFrom<unknown>(KEY, `old:${KEY},${KEY}`, 7, null), fc.jsonValue()),
				),
				{ maxLength: 3 },
			),
		),
	),
);

test('whatever answers a read is a balance, keys without secrets, a list, or none of them', () => {
	fc.assert(
		fc.property(readAnswer, (body) => {
			const credits = creditsOf(body);
			expect(credits === undefined || Number.isFinite(credits)).toBe(true);
			expect(JSON.stringify(maskSecrets(apiKeysOf(body) ?? []))).not.toContain(KEY);
			for (const { routes } of Object.values(lists))
				for (const route of routes.flat()) {
					const page = pageIn(body, route, undefined);
					for (const { value, name } of page?.entries ?? [])
						expect([typeof value, typeof name]).toEqual(['string', 'string']);
				}
		}),
	);
});

test('whatever stands on the pages of a list of tasks: tasks with IDs, or that there is no list', async () => {
	const page = fc.oneof(readAnswer, mutated(`[${CREATED},${TASK}]`));
	await fc.assert(
		fc.asyncProperty(fc.array(page, { minLength: 1, maxLength: 4 }), async (pages) => {
			const client = scriptedClient((_, count) => {
				const given = pages[(count - 1) % pages.length];
				return answerOf(typeof given === 'string' ? given : JSON.stringify(given));
			});
			const clock = new VirtualClock();
			const reading = readTaskList({ client, limit: Infinity, tries: 2, clock });
			const list = await clock.run(reading.catch(() => undefined));
			expect(client.requests.length).toBeLessThan(100);
			const tasks = list?.kind === 'list' ? list.tasks : [];
			expect(new Set(tasks.map(({ taskId }) => taskId)).size).toBe(tasks.length);
			expect(tasks.filter(({ taskId }) => taskId === '')).toEqual([]);
		}),
	);
});
