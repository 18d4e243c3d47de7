/** What can be found out without making anything: nothing here is paid for. */
import { randomUUID } from 'node:crypto';
import { isObject } from '../../nodes/MediaGeneration/service/json';
import { apiKeysOf, creditsOf, errorTextOf } from '../../nodes/MediaGeneration/service/task';
import { inWords, type See, shapeOf } from './findings';
import type { Answer, ProbedService } from './service';

/** Routes that only some services have. */
const optionalRoutes = {
	voices: '/v1/voices',
	manyVoices: '/v3/voices?page=1&page_size=1',
	imageModels: '/v1i/models',
	health: '/v1/health-check',
	tasks: '/v1/tasks?page=1&limit=1',
};

const bodyOf = ({ json }: Answer) => (isObject(json) ? json : {});

async function account(service: ProbedService, see: See): Promise<void> {
	const credits = await service.get('/v1/credits');
	const usual = credits.status === 200 && typeof bodyOf(credits).credits === 'number';
	const isRead = creditsOf(credits.json) !== undefined;
	see('balance', inWords(credits), usual || (isRead ? 'copes' : 'fails'));
	const keys = await service.get('/v1/api-keys');
	const listed = keys.status === 200 && Array.isArray(bodyOf(keys).data);
	const list = apiKeysOf(keys.json);
	see('keys', inWords(keys), listed || (list === undefined ? 'fails' : 'copes'));
	see('keyFields', list?.[0] === undefined ? 'no key listed' : shapeOf(list[0]));
	const whole = JSON.stringify(keys.json ?? '').match(/sk_[\w-]{12,}/g)?.length ?? 0;
	see('secrets', `${whole} in full`);
}

async function authentication(service: ProbedService, see: See): Promise<void> {
	const wrongKey = { authorization: 'Bearer sk_probe_of_a_wrong_key' };
	const wrong = await service.get('/v1/credits', wrongKey);
	const { success, error } = bodyOf(wrong);
	const usual = wrong.status === 401 && success === false && typeof error === 'string';
	const refused = isObject(wrong.json) && ([401, 403].includes(wrong.status) || success === false);
	see('wrongKey', inWords(wrong), usual || (refused ? 'copes' : 'fails'));
	const none = await service.get('/v1/credits', {});
	see('noKey', inWords(none), none.status === 401 || 'copes');
	const other = await service.get('/v1/credits', { 'xi-api-key': service.apiKey });
	see('xiApiKey', other.status === 200 ? 'taken' : `not taken: ${inWords(other)}`);
}

async function routes(service: ProbedService, see: See): Promise<void> {
	for (const [id, route] of Object.entries({ unknownV1: 'v1', unknownV1e: 'v1e' })) {
		const unknown = await service.get(`/${route}/task/${randomUUID()}`);
		const missing = unknown.status === 404;
		const usual = missing && errorTextOf(bodyOf(unknown)) !== undefined;
		see(id, inWords(unknown), usual || (missing ? 'copes' : 'fails'));
	}
	const nowhere = await service.get('/v1/no-such-route');
	const refused = nowhere.status >= 400 && nowhere.status < 500;
	see('noRoute', inWords(nowhere), nowhere.status === 404 || (refused ? 'copes' : 'fails'));
	for (const [id, route] of Object.entries(optionalRoutes)) {
		const answer = await service.get(route);
		see(id, answer.status === 200 ? inWords(answer) : `not there (${answer.status})`);
	}
}

/** Everything that reading shows, by about twenty requests. */
export async function readOnly(service: ProbedService, see: See): Promise<void> {
	await account(service, see);
	await authentication(service, see);
	await routes(service, see);
	const route = `/v1/task/${randomUUID()}`;
	const answers = await Promise.all(Array.from({ length: 5 }, () => service.get(route)));
	const kinds = [...new Set(answers.map((answer) => inWords(answer)))];
	const alike = kinds.length === 1 && answers[0]?.status === 404;
	const denied = answers.some(({ status }) => status === 401 || status === 403);
	see('quickLooks', kinds.join(' | '), alike || (denied ? 'fails' : 'copes'));
}
