/**
 * What can happen: a node with its settings, items, a service with its faults, a host of files, people who stop, retry and forge, and
 * a process that dies. Plain data, so that it can be drawn at random, made shorter and printed. Whatever a list does not say goes
 * well, so the shortest history is an empty one.
 */
import fc from 'fast-check';
import { examplesOf, type CreationExample, type TaskExample } from '../answers';
import { NO_LIST, taskLists } from './list';

const oneOf = <T>(...values: T[]) => fc.constantFrom(...values);
const word = <T extends string>(...values: readonly T[]) => fc.constantFrom(...values);
export type Drawn<A> = A extends fc.Arbitrary<infer T> ? T : never;

type Choices = Readonly<Record<string, readonly unknown[]>>;
type Wide<T> = T extends number
	? number
	: T extends boolean
		? boolean
		: T extends readonly number[]
			? readonly number[]
			: T;
type Chosen<Of extends Choices> = { -readonly [Name in keyof Of]: Wide<Of[Name][number]> };

/** One value for each name. The first one stands for what a history does not say. */
function choices<const Of extends Choices>(of: Of) {
	const lists = Object.entries(of);
	const drawn = lists.map(([name, values]) => [name, fc.constantFrom(...values)]);
	return {
		plain: Object.fromEntries(lists.map(([name, [first]]) => [name, first])) as Chosen<Of>,
		drawn: fc.record(
			Object.fromEntries(drawn) as Record<string, fc.Arbitrary<unknown>>,
		) as fc.Arbitrary<Chosen<Of>>,
	};
}

const RETRY_AFTER = ['none', '0', '2', '3600', '-5', 'soon', 'date', 'past date'] as const;
export type RetryAfter = (typeof RETRY_AFTER)[number];

/** By their names; an example whose answer goes with what was asked for means nothing beside another request. */
const examples = <Folder extends string, Kind>(folder: Folder, isForAll: (of: Kind) => boolean) =>
	new Map(
		examplesOf<Kind>(folder)
			.filter(([, example]) => isForAll(example))
			.map(([name, example]) => [`${folder}/${name}` as const, example]),
	);
export const CREATIONS = examples('creation', ({ request, answer, meaning }: CreationExample) => {
	const isUnsent = 'silence' in answer && answer.silence === 'unsent';
	// Another ID could not stand in the place of one that is written otherwise.
	const isWritten = JSON.stringify(answer).includes(meaning.taskId ?? '');
	return request.body.text === 'Rain on a roof' && !isUnsent && isWritten;
});
export const LOOKS = examples(
	'task',
	({ request: { makesFile, carried } }: TaskExample) =>
		makesFile === undefined && carried === undefined,
);

/** Of each meaning as often as of another. */
const kinds = <Own extends string, Name extends string>(
	own: readonly Own[],
	of: ReadonlyMap<Name, CreationExample | TaskExample>,
): fc.Arbitrary<Own | Name> => {
	const meanings = new Set([...of.values()].map(({ meaning }) => meaning.means));
	const named = (means: string) =>
		[...of].filter(([, { meaning }]) => meaning.means === means).map(([name]) => name);
	return fc.oneof(word(...own), ...[...meanings].map((means) => word(...named(means))));
};

/** What can become of a creation: an example of test/answers, or what none of them is. */
const creationKinds = kinds(
	// A number that a double has no room for, and an ID that is no part of an address as it is.
	['ok', 'never answered', 'ID is a number', 'ID is odd', 'slow', 'key echoed'],
	CREATIONS,
);
export type CreationKind = Drawn<typeof creationKinds>;
const lookKinds = kinds(['ok', 'any JSON', 'never answered', 'slow', 'key echoed'], LOOKS);
const FILE_KINDS = [
	'ok',
	'HTTP 403',
	'HTTP 404',
	'HTTP 503',
	'page',
	'cut',
	'reset',
	'redirected',
	// A transcript that breaks whoever parses it without care.
	'deep',
] as const;
export type FileFault = (typeof FILE_KINDS)[number];

export const OWN_FIELDS = {
	none: {},
	'empty error': { error: '' },
	error: { error: 'a warning' },
	outcome: { outcome: 'failed' },
	unfinished: { unfinished: true },
	IDs: { task_ids: ['another'], part: 1, parts: 9, joined: false },
} as const;

/** The node's store, the log, and methods of n8n's context. */
const BREAKING = [
	...(['context', 'logger', 'getExecutionId', 'addExecutionHints', 'getNodeParameter'] as const),
	...(['evaluateExpression', 'getCredentials', 'putExecutionToWait'] as const),
];

const creation = fc.record({
	kind: creationKinds,
	/** Where nobody can tell from the answer: whether the service did create the task. */
	created: fc.boolean(),
	retryAfter: word(...RETRY_AFTER),
});
export type CreationFault = Drawn<typeof creation>;

/** Anything, or something that looks like a task, but names no file. */
const anyJson: fc.Arbitrary<unknown> = fc.oneof(
	fc.jsonValue({ maxDepth: 3 }),
	fc.record(
		{
			status: fc.oneof(oneOf('error', 'done', 'doing', ''), fc.jsonValue({ maxDepth: 1 })),
			id: oneOf<unknown>('another', '', 7, null),
			type: oneOf('rate_limit_error', 'sound_effect', ''),
			progress: oneOf<unknown>(100, '50', null, -1),
			success: oneOf<unknown>(false, true, 'false'),
			metadata: fc.jsonValue({ maxDepth: 2 }),
			data: fc.jsonValue({ maxDepth: 2 }),
			message: oneOf('Slow down', 'Failed'),
			outcome: oneOf('failed', 'unknown'),
		},
		{ requiredKeys: [] },
	),
);
const look = fc.record({
	kind: lookKinds,
	retryAfter: word(...RETRY_AFTER),
	/** What "any JSON" answers. */
	json: anyJson,
});
export type LookFault = Drawn<typeof look>;

const task = choices({
	/** From its creation to its end. */
	seconds: [1, 8, 40, 400, 4_000],
	end: ['done', 'done', 'error', 'done', 'done without files', 'never'],
	/** How long the service does not know it, in seconds. */
	hiddenFor: [0, 0, 3, 90],
	/** Credits; -1: the service names none. */
	cost: [10, 0, -1],
	progress: ['none', 'honest', 'stuck'],
	/** A field of its own that n8n or this package reads. */
	own: ['none', 'none', 'empty error', 'error', 'outcome', 'unfinished', 'IDs'],
	/** When its callback comes after its end, in seconds, each time that it comes. Empty: it gets lost. */
	callbacks: [[0], [], [1], [30], [2_000], [0, 0], [0, 30], [1, 2_000]],
});
export const PLAIN_TASK = task.plain;
export type TaskScript = typeof PLAIN_TASK;

const item = choices({
	wait: ['poll', 'suspend', 'no', 'suspend'],
	/** Seconds; 0: the default. */
	timeout: [0, 5, 60],
	onTimeout: ['error', 'returnTask'],
	longText: ['off', 'off', 'join', 'parts'],
	/** Of a long text. */
	parts: [1, 2, 3],
	/** Whether the text is another one in each try, as with `$now`. */
	changes: [false, true],
	splitFiles: [false, true],
	download: [true, true, false],
	grace: [0, 10],
});
export const PLAIN_ITEM = item.plain;
export type ItemScript = typeof PLAIN_ITEM;

const node = choices({
	operation: ['voiceId', 'voiceName', 'sound', 'image', 'create'],
	onError: ['stopWorkflow', 'continueRegularOutput', 'continueErrorOutput'],
	/** Of Retry On Fail; 1: off. */
	tries: [1, 3, 2],
	maxActive: [20, 1, 2],
	/** -1: off. */
	minimumCredits: [-1, -1, 50, 500],
	maximumCredits: [-1, -1, -1, 15, 0],
	/** Whether the option is on that sends a creation again though it may be paid for. */
	sendsAgain: [false, false, false, true],
	keyHeader: ['authorization', 'xi-api-key'],
	/** Whether the service can call this n8n. */
	reachable: [true, true, false],
	/** Whether all items have the same text: those that name their voice differ by that, as long as they have one part. */
	alike: [false, false, true],
	/** Whether n8n saves what the nodes before have made, so that somebody can press Retry after it was killed. */
	savesProgress: [false, true],
	/** Whether a node before this one fails at first, so that only n8n's Retry comes to this one, or has slept, so that n8n has saved the execution. */
	before: ['runs', 'runs', 'runs', 'sleeps', 'fails'],
});
export const PLAIN_NODE = node.plain;

/** What else happens, and when, in seconds since the beginning. */
const event = fc.record({
	at: oneOf(0.01, 0, 0.5, 1, 2, 5, 11, 12, 30, 100, 300, 1_000, 5_000),
	kind: word(
		...(['stop', 'death', 'forged callback', 'forged callback', 'forged sibling'] as const),
		...(['clock set back', 'clock set forward'] as const),
	),
});
export type EventScript = Drawn<typeof event>;

/** A list that is often empty: where everything breaks at once, nothing gets far enough to meet. */
const some = <T>(entry: fc.Arbitrary<T>, maxLength: number) =>
	fc.oneof(fc.constant<T[]>([]), fc.array(entry, { maxLength }));

/** n8n's store of files. */
const store = fc.record({
	/** The largest file in bytes; 0: any. 1,000 is between one part and two of them. */
	limit: oneOf(0, 0, 1_000),
	/** Whether each write, and each read, is refused. */
	writes: some(fc.boolean(), 5),
	reads: some(fc.boolean(), 3),
});
export type StoreScript = Drawn<typeof store>;

/** What of n8n throws, from its so-manieth use on and so many times. */
const breaking = fc.record({
	what: word(...BREAKING),
	from: fc.nat(30),
	times: oneOf(1, 2, 1_000),
});
export type BreakScript = Drawn<typeof breaking>;

export const histories = fc.record({
	seed: fc.nat(1_000_000),
	store,
	breaks: fc.array(breaking, { maxLength: 2, size: '-1' }),
	list: taskLists,
	/** How "Task: Wait" behind the node waits, if there is one. */
	behind: word('nobody', 'poll', 'callback'),
	node: node.drawn,
	items: fc.array(item.drawn, { minLength: 1, maxLength: 4 }),
	creations: some(creation, 5),
	looks: some(look, 8),
	files: some(word(...FILE_KINDS), 5),
	tasks: some(task.drawn, 6),
	events: some(event, 4),
	/** How often somebody presses Retry on the failed execution, and whether the texts are others by then. */
	retries: fc.array(fc.record({ changed: fc.boolean() }), { maxLength: 2 }),
});
export type History = Drawn<typeof histories>;

export const PLAIN_STORE: StoreScript = {
	limit: 0,
	writes: [],
	reads: [],
};

/** One item, and nothing goes wrong. */
export const PLAIN_HISTORY: History = {
	seed: 1,
	store: PLAIN_STORE,
	breaks: [],
	list: NO_LIST,
	behind: 'nobody',
	node: PLAIN_NODE,
	items: [PLAIN_ITEM],
	creations: [],
	looks: [],
	files: [],
	tasks: [],
	events: [],
	retries: [],
};
