/** What each answer of test/answers means. */
import { models } from '../../nodes/MediaGeneration/actions/model';
import { voicesOf } from '../../nodes/MediaGeneration/actions/voice';
import { readCreation } from '../../nodes/MediaGeneration/answers/creation';
import { readPoll } from '../../nodes/MediaGeneration/answers/poll';
import { addressesIn, verdictOf, withoutFiles } from '../../nodes/MediaGeneration/answers/verdict';
import { attemptAsync } from '../../nodes/MediaGeneration/base/outcomes';
import { problemWith } from '../../nodes/MediaGeneration/files/kind';
import { sendByRoute } from '../../nodes/MediaGeneration/task/speechRoute';
import { readPages } from '../../nodes/MediaGeneration/transport/pages';
import { readBalance } from '../../nodes/MediaGeneration/transport/reading';
import { readTaskList } from '../../nodes/MediaGeneration/transport/taskList';
import {
	examplesOf,
	replyOf,
	textOf,
	type BalanceExample,
	type Came,
	type CreationExample,
	type FileExample,
	type ListExample,
	type TaskExample,
} from '../answers';
import { answer as answered, scriptedClient } from '../support/replies';

const MEANS = {
	...{ created: 'created', refused: 'refused', unclear: 'unclear' },
	...{ full: 'later', limited: 'later', retry: 'later' },
} as const;
const OUTCOME = { refused: 'rejected', later: 'rejected', unclear: 'unknown', created: undefined };

test.each(examplesOf<CreationExample>('creation'))(
	'creation/%s',
	async (_name, { request, answer, meaning }) => {
		const creation = readCreation(replyOf(answer), request);
		expect(MEANS[creation.kind]).toBe(meaning.means);
		const failure = creation.kind === 'created' ? undefined : creation.failure;
		expect(failure?.outcome).toBe(OUTCOME[meaning.means]);
		const words = `${failure?.message} | ${failure?.description}`;
		for (const part of meaning.says ?? []) expect(words).toContain(part);
		if (meaning.means === 'refused' || meaning.means === 'later')
			expect(words).toMatch(/No task was created and nothing was paid\.$/);
		if (meaning.means === 'unclear') expect(words).toMatch(/may exist \| It may be paid for/);
		const taskId = creation.kind === 'created' ? creation.taskId : failure?.taskId;
		if (meaning.taskId !== undefined) expect(taskId ?? null).toBe(meaning.taskId);
		if (meaning.status !== undefined) expect(failure?.httpStatus).toBe(meaning.status);
		if (meaning.line !== undefined) expect(creation.kind).toBe(meaning.line);
		const { retryAfterMs, patienceMs } = { retryAfterMs: 0, patienceMs: 0, ...creation };
		if (meaning.afterSeconds !== undefined) expect(retryAfterMs).toBe(meaning.afterSeconds * 1_000);
		if (meaning.means === 'later')
			expect(patienceMs).toBe(meaning.patienceSeconds && meaning.patienceSeconds * 1_000);
		const client = scriptedClient(() => replyOf(answer));
		await sendByRoute(client, request, new AbortController().signal);
		expect(client.requests).toHaveLength(meaning.asksForV3 === true ? 2 : 1);
		const isPaused = client.account.pausedUntil('create') > 0;
		if (meaning.pauses !== undefined) expect(isPaused).toBe(meaning.pauses);
	},
);

test.each(examplesOf<TaskExample>('task'))('task/%s', (_name, { request, answer, meaning }) => {
	const { taskId, makesFile, carried } = request;
	const made = { requestAddresses: addressesIn(carried), makesFile };
	const poll = readPoll(replyOf(answer), taskId);
	const verdict = poll.kind === 'task' ? verdictOf(taskId, poll.task, made) : poll;
	const isFileless = verdict.kind === 'running' && verdict.task.state === 'done';
	const means = isFileless ? 'fileless' : verdict.kind;
	expect(means).toBe(meaning.means);
	const files = verdict.kind === 'done' ? verdict.outputs : [];
	if (meaning.files !== undefined)
		expect(files.map(({ url, kind }) => `${url} ${kind}`)).toEqual(meaning.files);
	const ended = isFileless ? withoutFiles(taskId, verdict.task, made) : verdict;
	if (meaning.finally !== undefined) expect(ended.kind).toBe(meaning.finally);
	const failure = ended.kind === 'failed' ? ended.failure.message : '';
	const words = `${'detail' in poll ? poll.detail : failure}`;
	for (const part of meaning.says ?? []) expect(words).toContain(part);
	const progress = poll.kind === 'task' ? poll.task.progress : undefined;
	if (meaning.progress !== undefined) expect(progress ?? null).toBe(meaning.progress);
	const { retryAfterMs = undefined } = poll.kind === 'busy' ? poll : {};
	if (meaning.afterSeconds !== undefined) expect(retryAfterMs).toBe(meaning.afterSeconds * 1_000);
});

const PICKS = {
	voices: voicesOf(''),
	'image models': models.image(''),
	'speech models': models.speech(''),
};

/** The first page of a list, read by the route of that path; the others are not there. */
async function listed({ list, path }: ListExample['request'], came: Came) {
	const client = scriptedClient(({ path: asked }) =>
		asked.split('?')[0] === path ? replyOf(came) : answered(404),
	);
	const tries = { client, tries: 1, limit: 1_000 };
	if (list === 'tasks') {
		const read = await readTaskList({ ...tries, mostPages: 1 });
		const entries = read.entries.map(({ taskId, createdAt }) => [
			taskId,
			createdAt === undefined ? '' : new Date(createdAt).toISOString(),
		]);
		return { ...read, entries };
	}
	const index = PICKS[list].routes.findIndex((route) => route.path(1).split('?')[0] === path);
	const read = await readPages(PICKS[list], { ...tries, mostPages: index + 1 });
	const entries = read.entries.map(({ value, name, description, link }) => [
		...[value, name, description, link],
	]);
	return { ...read, entries };
}

test.each(examplesOf<ListExample>('list'))(
	'list/%s',
	async (_name, { request, answer, meaning }) => {
		const read = await attemptAsync(async () => await listed(request, answer));
		const unread = /publishes no list/.test(read.ok ? '' : read.failure.message)
			? 'none'
			: 'unread';
		expect(read.ok ? 'entries' : unread).toBe(meaning.means);
		const words = read.ok ? '' : `${read.failure.message} | ${read.failure.description}`;
		for (const part of meaning.says ?? []) expect(words).toContain(part);
		const { entries = [], next, isWhole } = read.ok ? read.value : {};
		const shown = entries.map((each) => each.filter(Boolean).join(' | '));
		expect(shown).toEqual(meaning.entries ?? []);
		if (meaning.hasMore !== undefined) expect((next?.page ?? 1) > 1).toBe(meaning.hasMore);
		if (meaning.whole !== undefined) expect(isWhole).toBe(meaning.whole);
	},
);

test.each(examplesOf<BalanceExample>('balance'))(
	'balance/%s',
	async (_name, { answer, meaning }) => {
		const balance = await readBalance({ client: scriptedClient(() => replyOf(answer)), tries: 1 });
		expect(balance.ok ? balance.value : undefined).toBe(
			meaning.means === 'credits' ? meaning.credits : undefined,
		);
		const words = balance.ok ? '' : balance.failure.message;
		for (const part of meaning.says ?? []) expect(words).toContain(part);
	},
);

const STATED = [
	...['audio/mpeg', 'image/png', 'application/octet-stream'],
	...['text/html', 'application/xml', ''],
];

test.each(examplesOf<FileExample>('file'))('file/%s', (_name, { request, answer, meaning }) => {
	if ('silence' in answer) throw new Error('a host that says nothing is no example of a file');
	const head = Buffer.from(answer.hex ?? textOf(answer), answer.hex === undefined ? 'utf8' : 'hex');
	const cases = meaning.always
		? (['audio', 'image'] as const).flatMap((kind) =>
				STATED.map((stated) => ({ ...request, kind, stated })),
			)
		: [{ ...request, stated: answer.headers?.['content-type'] }];
	for (const about of cases) {
		const problem = problemWith(head, about) ?? 'a file';
		expect(problem).toMatch(
			meaning.means === 'file' ? /^a file$/ : /^the file host sent .+ instead of the file/,
		);
		for (const part of meaning.says ?? []) expect(problem).toContain(part);
	}
});
