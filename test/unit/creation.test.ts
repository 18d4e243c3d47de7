import type { Reply } from '../../nodes/MediaGeneration/service/client';
import { readCreation } from '../../nodes/MediaGeneration/create/creation';
import { isServerBusy, kindOf429 } from '../../nodes/MediaGeneration/service/account';
import { answer, noAnswer } from '../support/replies';

const NOW = 1_000_000;

describe('created', () => {
	test.each<[string, unknown, string]>([
		['as docs/service.md states it', { task_id: 't1' }, 't1'],
		['with the rest', { success: true, task_id: 't1', ec_remain_credits: '12' }, 't1'],
		['wrapped', { success: true, data: { task_id: 't1' } }, 't1'],
		['as a number', { task_id: 7 }, '7'],
		[
			'with a task ID, whatever success says: the task may be paid for',
			{ success: false, task_id: 't1' },
			't1',
		],
	])('%s', (_name, body, taskId) => {
		expect(readCreation(answer(200, body), NOW)).toEqual({ kind: 'created', taskId, answer: body });
	});
	test('201 and 202 count as well', () => {
		expect(readCreation(answer(201, { task_id: 'a' }), NOW).kind).toBe('created');
		expect(readCreation(answer(202, { task_id: 'a' }), NOW).kind).toBe('created');
	});
});

describe('sent again, as nothing was created', () => {
	test.each<[string, Reply, RegExp, object]>([
		[
			'refused',
			noAnswer({ kind: 'unconnected', reason: 'connect ECONNREFUSED' }),
			/could not be reached: connect ECONNREFUSED/,
			{ patience: 'connection' },
		],
		[
			'unknown host',
			noAnswer({ kind: 'impossible', reason: 'ENOTFOUND' }),
			/could not be reached: ENOTFOUND/,
			{ patience: 'unknown host' },
		],
		[
			'active-task limit',
			answer(429, { success: false, code: 'active_task_limit' }),
			/accepts no more tasks/,
			{ kind: 'full' },
		],
		[
			'active-task limit that speaks of credits',
			answer(429, { code: 'active_task_limit', message: 'buy credits for more' }),
			/accepts no more tasks/,
			{ kind: 'full' },
		],
		[
			'rate limit',
			answer(429, { error: 'Too many requests' }),
			/accepts no more tasks at the moment \(HTTP 429: Too many requests\)/,
			{ kind: 'full' },
		],
		[
			'rate limit with Retry-After',
			answer(429, { error: 'rate limit' }, { 'retry-after': '7' }),
			/accepts no more tasks/,
			{ kind: 'full', retryAfterMs: 7_000 },
		],
		[
			'ambiguous 429',
			answer(429, { success: false }),
			/a limit it does not name/,
			{ patience: 'unnamed limit' },
		],
		[
			'ambiguous 429 without a body',
			answer(429),
			/a limit it does not name \(HTTP 429\)/,
			{ patience: 'unnamed limit' },
		],
		[
			'ambiguous 429 in HTML',
			answer(429, '<html>no</html>', { 'retry-after': '3' }),
			/a limit it does not name/,
			{ patience: 'unnamed limit', retryAfterMs: 3_000 },
		],
		[
			'503 server_busy',
			answer(503, { success: false, code: 'server_busy', message: 'busy' }),
			/The service is busy \(HTTP 503: busy\)/,
			{},
		],
		[
			'busy inside 200',
			answer(200, { success: false, code: 'server_busy' }),
			/accepts no more tasks/,
			{ kind: 'full' },
		],
		[
			'active-task limit inside 200',
			answer(200, { success: false, error: 'active_task_limit reached' }),
			/accepts no more tasks/,
			{ kind: 'full' },
		],
	])('%s', (_name, reply, message, fields) => {
		const creation = readCreation(reply, NOW);
		expect(creation).toMatchObject({ kind: 'retry', failure: { outcome: 'rejected' }, ...fields });
		if (creation.kind !== 'retry' && creation.kind !== 'full') return;
		expect(creation.failure.message).toMatch(message);
		expect(creation.failure.description).toMatch(/No task was created and nothing was paid\.$/);
	});

	test('the final words of an ambiguous 429 name both causes', () => {
		const creation = readCreation(answer(429), NOW);
		expect(creation.kind === 'retry' && creation.failure.description).toMatch(
			/rate limit.*daily spend limit/,
		);
	});

	test.each<[string, Reply, RegExp]>([
		[
			'refused',
			noAnswer({ kind: 'unconnected' }),
			/Check the Base URL .* and whether the service is up/,
		],
		['rate limit', answer(429, { error: 'rate limit' }), /Max Active Tasks.*Timeout.*later/],
		['server_busy', answer(503, { code: 'server_busy' }), /again later.*Timeout/],
	])('%s, for good: the error says what to do next', (_name, reply, advice) => {
		const creation = readCreation(reply, NOW);
		expect('failure' in creation && creation.failure.description).toMatch(advice);
	});

	test.each(['active_task_limit', 'activeTaskLimit', 'Active task limit reached'])(
		'"%s" inside 200 is a full account',
		(code) => {
			expect(readCreation(answer(200, { success: false, code }), NOW).kind).toBe('full');
		},
	);
});

describe('rejected at once', () => {
	test.each<[string, Reply, RegExp, RegExp]>([
		[
			'daily cap',
			answer(429, { error: 'Daily spend cap reached' }),
			/daily or spend limit \(HTTP 429: Daily spend cap reached\)/,
			/Raise the limit of the key/,
		],
		[
			'spend cap in a code',
			answer(429, { error: { code: 'spend_limit', message: 'no' } }),
			/daily or spend limit/,
			/tomorrow/,
		],
		[
			'validation',
			answer(400, { error: 'text is too long' }),
			/refused the task \(HTTP 400: text is too long\)/,
			/Correct the fields/,
		],
		[
			'invalid key',
			answer(401, { success: false, error: 'Invalid API key' }),
			/HTTP 401: Invalid API key/,
			/Check the API key.*credits/,
		],
		['no credits', answer(402, { message: 'Payment required' }), /HTTP 402/, /out of credits/],
		['forbidden', answer(403), /refused the task \(HTTP 403\)/, /not allowed/],
		['wrong path', answer(404, '<html>'), /HTTP 404/, /Base URL/],
		['too large', answer(413), /HTTP 413/, /Shorten/],
		[
			'model parameters',
			answer(422, { detail: 'bad resolution' }),
			/HTTP 422: bad resolution/,
			/Correct the fields/,
		],
		[
			'refusal inside 200',
			answer(200, { success: false, message: 'Not enough credits' }),
			/refused the task: Not enough credits/,
			/credits/,
		],
		['refusal inside 200 without words', answer(200, { success: false }), /no reason given/, /./],
		...[301, 307, 308].map((status): [string, Reply, RegExp, RegExp] => [
			`${status}, which asks for the same request elsewhere`,
			answer(status, '', { location: 'https://evil.example/v1/task/t9' }),
			new RegExp(`HTTP ${status}`),
			/never sent along/,
		]),
	])('%s', (_name, reply, message, description) => {
		const creation = readCreation(reply, NOW);
		expect(creation).toMatchObject({ kind: 'failed', failure: { outcome: 'rejected' } });
		if (creation.kind !== 'failed') return;
		expect(creation.failure.message).toMatch(message);
		expect(creation.failure.description).toMatch(description);
		expect(creation.failure.httpStatus).toBe(reply.answered ? reply.status : undefined);
	});
});

describe('unknown, and never sent again', () => {
	test.each<[string, Reply, RegExp]>([
		[
			'timeout',
			noAnswer({ reason: 'timeout of 5000ms exceeded' }),
			/never came \(timeout of 5000ms exceeded\)/,
		],
		['reset', noAnswer({ reason: 'read ECONNRESET' }), /never came \(read ECONNRESET\)/],
		['aborted on the way', noAnswer({ reason: 'canceled' }), /never came \(canceled\)/],
		[
			'500',
			answer(500, { error: 'Invalid model_id' }),
			/failed while it handled the request \(HTTP 500: Invalid model_id\)/,
		],
		['502 in HTML', answer(502, '<html>Bad gateway</html>'), /\(HTTP 502\)/],
		[
			'503 that is not server_busy',
			answer(503, 'Service Unavailable', { 'retry-after': '3' }),
			/HTTP 503/,
		],
		['504', answer(504), /HTTP 504/],
		['408', answer(408), /HTTP 408/],
		['an answer before the answer', answer(103), /failed while it handled.*HTTP 103/],
		['500 that speaks of being busy', answer(500, { code: 'server_busy' }), /HTTP 500/],
		['empty 200', answer(200), /HTTP 200\) but sent an empty answer/],
		['HTML 200', answer(200, '<html>'), /an answer that is not JSON/],
		['200 without an ID', answer(200, { success: true }), /without task_id/],
		['200 with an unusable ID', answer(200, { task_id: { a: 1 } }), /without task_id/],
		['200 with a list', answer(200, [{ task_id: 'a' }]), /without task_id/],
	])('%s', (_name, reply, message) => {
		const creation = readCreation(reply, NOW);
		expect(creation).toMatchObject({ kind: 'unclear', failure: { outcome: 'unknown' } });
		if (creation.kind !== 'unclear') return;
		expect(creation.failure.message).toMatch(message);
		expect(creation.failure.message).toMatch(/the task may exist$/);
		expect(creation.failure.description).toMatch(/may have created the task.*not sent again/);
		expect(creation.failure.httpStatus).toBe(reply.answered ? reply.status : undefined);
	});

	test.each<[string, unknown, string, string | undefined]>([
		['by its ID', { error: 'no', task_id: 't9' }, '(t9)', 't9'],
		['in another way', { error: 'no', tasks: [{ task_id: 't9' }] }, '(see its answer)', undefined],
	])('a refusal that names a task %s: it may be paid for', (_name, body, named, taskId) => {
		const creation = readCreation(answer(400, body), NOW);
		expect(creation).toMatchObject({
			kind: 'unclear',
			failure: { outcome: 'unknown', httpStatus: 400 },
		});
		expect(creation.kind === 'unclear' && creation.failure.message).toMatch(/refused.*HTTP 400/);
		expect(creation.kind === 'unclear' && creation.failure.message).toContain(named);
		expect(creation.kind === 'unclear' && creation.failure.taskId).toBe(taskId);
	});

	const to = (location: string) => ({ location });
	test.each<[string, Reply, string | undefined]>([
		['303 to the task', answer(303, '', to('https://api.example/v1/task/t%2F9')), 't/9'],
		['303 to the task by a path', answer(303, '', to('/v1e/task/t9')), 't9'],
		['302 to a list', answer(302, '', to('/v1/tasks/?task_id=t9')), 't9'],
		['302 that names it in its body', answer(302, { data: { id: 't9' } }, to('/login')), 't9'],
		['302 to a page', answer(302, '', to('https://sso.example/login')), undefined],
		['303 to an address that can not be read', answer(303, '', to('https://')), undefined],
		['303 to half an escape', answer(303, '', to('/v1/task/%E0%A4')), '%E0%A4'],
		['303 without an address', answer(303), undefined],
		['300', answer(300), undefined],
		['304', answer(304), undefined],
	])('a redirect can point to what the request has made: %s', (_name, reply, taskId) => {
		expect(readCreation(reply, NOW)).toMatchObject({
			kind: 'unclear',
			failure: {
				outcome: 'unknown',
				message: expect.stringMatching(
					/^The service answered with a redirect.*may exist$/,
				) as string,
			},
		});
		const creation = readCreation(reply, NOW);
		expect(creation.kind === 'unclear' && creation.failure.taskId).toBe(taskId);
	});
});

test.each<[unknown, string]>([
	[{ message: 'daily limit' }, 'cap'],
	[{ message: 'quota used up' }, 'cap'],
	[{ error: { message: 'not enough credits' } }, 'cap'],
	[{ message: 'capacity reached, slow down' }, 'rate'],
	[{ code: 'activeTaskLimit', message: 'buy credits for more' }, 'rate'],
	[{ code: 'activeTasks' }, 'rate'],
	[{ code: 'rateLimited' }, 'rate'],
	[{ code: 'serverBusy' }, 'rate'],
	[{ message: 'queue is full' }, 'rate'],
	[{ code: 'rate_limited', message: 'x' }, 'rate'],
	[{ message: 'no' }, 'ambiguous'],
	['text', 'ambiguous'],
	[undefined, 'ambiguous'],
])('a 429 with %j is %s', (body, kind) => {
	expect(kindOf429(body)).toBe(kind);
});

test.each<[unknown, boolean]>([
	[{ code: 'server_busy' }, true],
	[{ code: 'serverBusy' }, true],
	[{ error: { message: 'Server busy' } }, true],
	[{ message: 'busy' }, false],
	['server_busy', false],
])('%j says that the server is busy: %j', (body, expected) => {
	expect(isServerBusy(body)).toBe(expected);
});
