/** Checks what docs/service.md assumes or leaves open against a service. */
import { randomUUID } from 'node:crypto';
import { apiKeysOf, creditsOf, errorTextOf } from '../../nodes/MediaGeneration/transport/task';
import { watchCallbacks } from './callbacks';
import { type Finding, Findings, inWords, type See, shapeOf } from './findings';
import { kindsOf, makeOne, type ProbeOptions, refusedCreation } from './making';
import { askFree, readList, Signs, spendOnNewer } from './newer';
import { type Answer, type ProbedService, serviceAt } from './service';

/** All findings, in the order of the questions. Nothing is made unless `spend` or `callback` asks for it. No creation is ever sent twice. */
export async function probe(options: ProbeOptions): Promise<Finding[]> {
	const service = serviceAt(options.baseUrl, options.apiKey);
	const findings = new Findings(options.apiKey);
	const see = findings.of();
	const signs = new Signs();
	await readAll(service, see, signs);
	await askFree(service, options, { see, signs });
	if (options.spend === true) {
		await refusedCreation(service, see);
		for (const kind of kindsOf(options))
			await makeOne(service, kind, { ...options, see: findings.of(kind[0]) });
		await spendOnNewer(service, options, { see, signs });
	}
	await readList(service, { see, signs });
	signs.report(see);
	if (options.callback !== undefined)
		await watchCallbacks(service, options.callback, { ...options, see });
	see('limitHeaders', [...service.limitHeaders].sort().join(', ') || 'none');
	const failed = service.statuses.filter((it) => it === 0 || it === 429 || it >= 500);
	see('throttled', failed.map((it) => it || 'no answer').join(', ') || 'none', failed.length === 0);
	return findings.all;
}

type Judge = (answer: Answer) => boolean;
const is = (status: number) => (answer: Answer) => answer.status === status;
const isBalance: Judge = ({ status, body }) => status === 200 && typeof body.credits === 'number';
const isKeyList: Judge = ({ status, body }) => status === 200 && Array.isArray(body.data);
const isUnknownTask: Judge = ({ status, body }) => status === 404 && !!errorTextOf(body);

/** Without a judge of what is expected: left open. */
const withKey: Array<[id: string, path: string, expected?: Judge, copes?: Judge]> = [
	['balance', '/v1/credits', isBalance, ({ json }) => creditsOf(json) !== undefined],
	['keys', '/v1/api-keys', isKeyList, ({ json }) => apiKeysOf(json) !== undefined],
	['unknownV1', `/v1/task/${randomUUID()}`, isUnknownTask, is(404)],
	['unknownV1e', `/v1e/task/${randomUUID()}`, isUnknownTask, is(404)],
	['noRoute', '/v1/no-such-route', is(404), ({ status }) => status >= 400 && status < 500],
	['voices', '/v1/voices'],
	['manyVoices', '/v3/voices?page=1&page_size=1'],
	['imageModels', '/v1i/models'],
	['tasks', '/v1/tasks?page=1&limit=1'],
];

/** What can be found out without making anything: nothing here is paid for. */
async function readAll(service: ProbedService, see: See, signs: Signs): Promise<void> {
	let hasBalance = false;
	for (const [id, path, expected, copes] of withKey) {
		const answer = await service.get(path);
		see(id, inWords(answer), expected?.(answer), copes?.(answer));
		if (id === 'balance') hasBalance = answer.status === 200;
		if (id !== 'keys') continue;
		const [key] = apiKeysOf(answer.json) ?? [];
		see('keyFields', key === undefined ? 'no key listed' : shapeOf(key));
		see('secrets', `${answer.text.match(/sk_[\w-]{12,}/g)?.length ?? 0} in full`);
	}
	const wrong = await service.get('/v1/credits', { authorization: 'Bearer sk_of_nobody_at_all' });
	const { success, error } = wrong.body;
	const isRefused = [401, 403].includes(wrong.status) || success === false;
	const isSaid = wrong.status === 401 && success === false && typeof error === 'string';
	see('wrongKey', inWords(wrong), isSaid, isRefused && wrong.json !== undefined);
	const none = await service.get('/v1/credits', {});
	see('noKey', inWords(none), none.status === 401);
	const otherHeader = await service.get('/v1/credits', { 'xi-api-key': service.apiKey });
	see('xiApiKey', inWords(otherHeader));
	if (!hasBalance && otherHeader.status === 200)
		signs.set('Key Header of the credential: xi-api-key');

	const taskId = randomUUID();
	const answers = await Promise.all(Array.from('12345', () => service.look('v1', taskId)));
	const kinds = [...new Set(answers.map(inWords))];
	const isDenied = answers.some(({ status }) => status === 401 || status === 403);
	const isAlike = kinds.length === 1 && answers[0]?.status === 404;
	see('quickLooks', kinds.join(' | '), isAlike, !isDenied);
}
