/** What each answer to a creation means for payment, in which words, and whether it may be sent again. */
import fc from 'fast-check';
import { readJson } from '../../nodes/MediaGeneration/base/bounded';
import { readCreation } from '../../nodes/MediaGeneration/answers/creation';
import { isServerBusy, kindOf429 } from '../../nodes/MediaGeneration/answers/limits';
import type { Answer, Reply } from '../../nodes/MediaGeneration/answers/reply';
import { answer, noAnswer } from '../support/replies';
import { anyCodePoint } from './codePoint';

const read = (reply: Reply) => readCreation(reply);

function failureOf(reply: Reply) {
	const creation = read(reply);
	if (creation.kind === 'created') throw new Error('It is created');
	return creation.failure;
}

test.each<[string, number, unknown, string]>([
	['as docs/service.md states it', 200, { task_id: 't1' }, 't1'],
	['with the rest', 200, { success: true, task_id: 't1', ec_remain_credits: '12' }, 't1'],
	['wrapped', 200, { success: true, data: { task_id: 't1' } }, 't1'],
	['as a number', 200, { task_id: 7 }, '7'],
	['whatever success says: it may be paid for', 200, { success: false, task_id: 't1' }, 't1'],
	['in camel case', 200, { success: true, taskId: 't1' }, 't1'],
	['under result', 200, { success: true, result: { task_id: 't1' } }, 't1'],
	['under data.task', 200, { id: 'r1', data: { id: 'r2', task: { task_id: 't1' } } }, 't1'],
	['a bare ID, the innermost one', 200, { id: 'r1', data: { id: 't1' } }, 't1'],
	['with 201', 201, { task_id: 'a' }, 'a'],
	['with 202', 202, { task_id: 'a' }, 'a'],
])('created: %s', (_name, status, body, taskId) => {
	expect(read(answer(status, body))).toEqual({ kind: 'created', taskId, answer: body });
});

const FULL = { kind: 'full', advice: /Max Active Tasks.*Timeout.*later/ };
const LIMITED = { ...FULL, kind: 'limited' };
const UNNAMED = { patienceMs: 60_000, advice: /rate limit.*daily spend limit/ };
const CONNECTION = {
	patienceMs: 60_000,
	advice: /Check the Base URL .* and whether the service is up/,
};
const BUSY = { patienceMs: undefined, advice: /again later.*Timeout/ };
const limit = { code: 'active_task_limit' };
const money = { ...limit, message: 'buy credits for more' };
const rate = answer(429, { error: 'Too many requests' }, { 'retry-after': '7' });
const named = /accepts no more tasks at the moment \(HTTP 429: Too many requests\)/;
const page = answer(429, '<html>no</html>', { 'retry-after': '3' });
const busy = answer(503, { code: 'server_busy', message: 'busy' });
const refused = noAnswer({ kind: 'unconnected', reason: 'connect refused' });
const unknown = noAnswer({ kind: 'impossible', reason: 'not known' });
const noHost = { ...CONNECTION, patienceMs: 10_000 };
interface Again {
	advice: RegExp;
	kind?: string;
	patienceMs?: number | undefined;
	retryAfterMs?: number;
}
test.each<[string, Reply, Again, RegExp]>([
	['a refused connection', refused, CONNECTION, /could not be reached: connect refused$/],
	['an unknown host', unknown, noHost, /could not be reached: not known$/],
	['a full account', answer(429, limit), FULL, /accepts no more tasks/],
	['a full account that speaks of credits', answer(429, money), FULL, /accepts no more tasks/],
	['a rate limit', rate, { ...LIMITED, retryAfterMs: 7_000 }, named],
	['a 429 that says nothing', answer(429), UNNAMED, /a limit it does not name \(HTTP 429\)/],
	['a 429 in HTML', page, { ...UNNAMED, retryAfterMs: 3_000 }, /a limit it does not name/],
	['503 server_busy', busy, BUSY, /The service is busy \(HTTP 503: busy\)/],
	...['server_busy', 'active_task_limit', 'activeTaskLimit', 'Active task limit reached'].map(
		(code): [string, Reply, Again, RegExp] => {
			const inside = answer(200, { success: false, code });
			return [
				`"${code}" inside 200`,
				inside,
				code === 'server_busy' ? LIMITED : FULL,
				/accepts no more tasks/,
			];
		},
	),
])('sent again, as nothing was created: %s', (_, reply, { advice, ...fields }, message) => {
	expect(read(reply)).toMatchObject({ kind: 'retry', failure: { outcome: 'rejected' }, ...fields });
	const failure = failureOf(reply);
	expect(failure.message).toMatch(message);
	expect(failure.description).toMatch(advice);
	expect(failure.description).toMatch(/No task was created and nothing was paid\.$/);
});

const FIELDS = /Correct the fields/;
const capped = { error: 'Daily spend cap reached' };
test.each<[number, unknown, RegExp, RegExp]>([
	[429, capped, /daily or spend limit \(.*cap reached\)/, /Raise the limit of the key/],
	[429, { error: { code: 'spend_limit', message: 'no' } }, /daily or spend limit/, /tomorrow/],
	[400, { error: 'text is too long' }, /refused the task \(HTTP 400: text is too long\)/, FIELDS],
	[401, { error: 'Invalid API key' }, /HTTP 401: Invalid API key/, /Check the API key.*credits/],
	[401, { error: 'Insufficient credits' }, /HTTP 401: Insufficient credits/, /^The account seems/],
	[422, { errors: [{ field: 'voice_id', message: 'is unknown' }] }, /voice_id: is unknown/, FIELDS],
	[402, { message: 'Payment required' }, /HTTP 402/, /out of credits/],
	[403, '', /refused the task \(HTTP 403\)/, /not allowed/],
	[404, '<html>', /HTTP 404/, /Base URL/],
	[413, '', /HTTP 413/, /Shorten/],
	[422, { detail: 'bad resolution' }, /HTTP 422: bad resolution/, FIELDS],
	[200, { success: false, message: 'Not enough credits' }, /task: Not enough credits/, /credits/],
	[200, { success: false }, /no reason given/, /./],
	// They ask for the same request elsewhere.
	[301, '', /HTTP 301/, /never sent along/],
	[307, '', /HTTP 307/, /never sent along/],
	[308, '', /HTTP 308/, /never sent along/],
])('rejected at once: %d %j', (status, body, message, advice) => {
	const reply = answer(status, body, { location: 'https://evil.example/v1/task/t9' });
	expect(read(reply)).toMatchObject({
		kind: 'failed',
		failure: { outcome: 'rejected', httpStatus: status },
	});
	const failure = failureOf(reply);
	expect(failure.message).toMatch(message);
	expect(failure.description).toMatch(advice);
	expect(failure.description).toMatch(/No task was created and nothing was paid\.$/);
});

test.each<[string, Reply, RegExp]>([
	['a time-out', noAnswer({ reason: 'no answer in time' }), /never came \(no answer in time\)/],
	['500', answer(500, { error: 'Invalid' }), /failed while it handled.*\(HTTP 500: Invalid\)/],
	['502 in HTML', answer(502, '<html>Bad gateway</html>'), /\(HTTP 502\)/],
	['503 that is not busy', answer(503, 'Unavailable', { 'retry-after': '3' }), /HTTP 503/],
	['504', answer(504), /HTTP 504/],
	['408', answer(408), /HTTP 408/],
	['499', answer(499), /HTTP 499/],
	['an answer before the answer', answer(103), /failed while it handled.*HTTP 103/],
	['500 that speaks of being busy', answer(500, { code: 'server_busy' }), /HTTP 500/],
	['empty 200', answer(200), /HTTP 200\) but sent an empty answer/],
	['HTML 200', answer(200, '<html>'), /an answer that is not JSON/],
	[
		'200 with another ID',
		answer(200, { success: true, data: { voice_id: 'v1' } }),
		/without task_id \(\{"success":true,"data":\{"voice_id":"v1"\}\}\); the task may exist$/,
	],
	['200 with an unusable ID', answer(200, { task_id: { a: 1 } }), /without task_id/],
	['200 with a list', answer(200, [{ task_id: 'a' }]), /without task_id/],
])('unknown, and never sent again: %s', (_name, reply, message) => {
	expect(read(reply)).toMatchObject({ kind: 'unclear', failure: { outcome: 'unknown' } });
	const failure = failureOf(reply);
	expect(failure.message).toMatch(message);
	expect(failure.message).toMatch(/the task may exist$/);
	expect(failure.description).toMatch(/may be paid for, so it is not sent again/);
	expect(failure.httpStatus).toBe(reply.answered ? reply.status : undefined);
});

const no = { error: 'no' };
const to = (location: string) => ({ location });
const REFUSED =
	/^The service refused the request \(HTTP 400(: no)?\) but named a task \((t9|see its answer)\);/;
const REDIRECT = /^The service answered with a redirect \(HTTP 30\d\); the task/;
const NAMED = /redirect \(HTTP 30\d\) and named a task \(t9\);/;
test.each<[string, Reply, RegExp, string | undefined]>([
	['a refusal, by its ID', answer(400, { ...no, task_id: 't9' }), REFUSED, 't9'],
	['a refusal, in its depth', answer(400, { ...no, a: [{ task_id: 't9' }] }), REFUSED, 't9'],
	['a refusal, escaped', answer(400, { ...no, a: [{ task_id: 't"9' }] }), REFUSED, undefined],
	['200 in its depth', answer(200, { a: { b: { taskId: 't9' } } }), /without task_id/, 't9'],
	['a list', answer(200, [{ task_id: 't9' }]), /without task_id/, 't9'],
	['a refusal that is cut off', answer(400, '{"task_id":"t9",'), REFUSED, 't9'],
	['200 that is cut off', answer(200, '{"task_id":"t9",'), /not JSON.*may exist$/, 't9'],
	['202', answer(202, '', to('/v1/task/t9')), /\(HTTP 202\) but sent an empty answer/, 't9'],
	['303', answer(303, '', to('https://api.example/v1/task/t9')), NAMED, 't9'],
	['303 by a path', answer(303, '', to('/v1e/task/t9')), NAMED, 't9'],
	['302 to a list', answer(302, '', to('/v1/tasks/?task_id=t9')), NAMED, 't9'],
	['302 in its body', answer(302, { data: { id: 't9' } }, to('/login')), NAMED, 't9'],
	['302 to a page', answer(302, '', to('https://sso.example/login')), REDIRECT, undefined],
	['303 to what can not be read', answer(303, '', to('https://')), REDIRECT, undefined],
	['303 without an address', answer(303), REDIRECT, undefined],
	['300', answer(300), REDIRECT, undefined],
	['304', answer(304), REDIRECT, undefined],
])('what names a task, or may, may be paid for: %s', (_name, reply, message, taskId) => {
	expect(read(reply).kind).toBe('unclear');
	const failure = failureOf(reply);
	expect(failure).toMatchObject({
		outcome: 'unknown',
		message: expect.stringMatching(message) as string,
	});
	expect(failure.message).toMatch(/may exist$/);
	expect(failure.taskId).toBe(taskId);
});

test.each<[unknown, string]>([
	[{ message: 'daily limit' }, 'cap'],
	[{ message: 'quota used up' }, 'cap'],
	[{ error: { message: 'not enough credits' } }, 'cap'],
	[{ message: 'capacity reached, slow down' }, 'rate'],
	[{ code: 'activeTasks' }, 'rate'],
	[{ code: 'rateLimited' }, 'rate'],
	[{ code: 'rate_limited', message: 'x' }, 'rate'],
	[{ code: 'serverBusy' }, 'rate'],
	[{ message: 'queue is full' }, 'rate'],
	[{ message: 'no' }, 'ambiguous'],
	['text', 'ambiguous'],
])('a 429 with %j is %s', (body, kind) => {
	expect(kindOf429(body)).toBe(kind);
});

test.each<[unknown, boolean]>([
	[{ code: 'serverBusy' }, true],
	[{ error: { message: 'Server busy' } }, true],
	[{ message: 'busy' }, false],
	['server_busy', false],
])('%j says that the server is busy: %j', (body, expected) => {
	expect(isServerBusy(body)).toBe(expected);
});

const ID = '7f9c2ba4-e88f';
const WHOLE = JSON.stringify({ success: true, task_id: ID, ec_remain_credits: 5, note: '"\\ü' });
/** As the door makes it. */
const answerOf = (text: string, status = 200): Answer => ({
	...{ answered: true, status, headers: {}, text },
	...readJson(text),
});

/** Something else stands in one place, or nothing. */
const changed = fc
	.tuple(fc.nat(WHOLE.length), fc.nat(8), fc.string({ unit: anyCodePoint, maxLength: 6 }))
	.map(([at, cut, insert]) => WHOLE.slice(0, at) + insert + WHOLE.slice(at + cut));

test('a changed creation is created or unclear as long as an ID stands in it', () => {
	fc.assert(
		fc.property(changed, (text) => {
			const { kind } = readCreation(answerOf(text));
			if (text.includes(`"task_id":"${ID}"`)) expect(['created', 'unclear']).toContain(kind);
		}),
	);
});
