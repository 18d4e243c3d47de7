/** What each answer of test/answers means. */
import { readCreation } from '../../nodes/MediaGeneration/answers/creation';
import { readPoll } from '../../nodes/MediaGeneration/answers/poll';
import {
	addressesIn,
	isForFile,
	verdictOf,
	withoutFiles,
} from '../../nodes/MediaGeneration/answers/verdict';
import { examplesOf, replyOf, type CreationExample, type TaskExample } from '../answers';

const MEANS = {
	...{ created: 'created', failed: 'refused', unclear: 'unclear' },
	...{ full: 'later', limited: 'later', retry: 'later' },
} as const;
const OUTCOME = { refused: 'rejected', later: 'rejected', unclear: 'unknown', created: undefined };

test.each(examplesOf<CreationExample>('creation'))(
	'creation/%s',
	(_name, { request, answer, meaning }) => {
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
	},
);

test.each(examplesOf<TaskExample>('task'))('task/%s', (_name, { request, answer, meaning }) => {
	const { taskId, kind = '', carried } = request;
	const made = { requestAddresses: addressesIn(carried), makesFile: isForFile(kind) };
	const poll = readPoll(replyOf(answer), taskId);
	const verdict = poll.kind === 'task' ? verdictOf(taskId, poll.task, made) : poll;
	const isFileless = verdict.kind === 'running' && verdict.task.state === 'done';
	const means = verdict.kind === 'unclear' ? 'doubtful' : isFileless ? 'fileless' : verdict.kind;
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
