/** What can be found out without making anything: nothing here is paid for. */
import { randomUUID } from 'node:crypto';
import { isObject } from '../../nodes/MediaGeneration/service/json';
import { apiKeysOf, creditsOf, errorTextOf } from '../../nodes/MediaGeneration/service/task';
import { type Findings, inWords, shapeOf } from './findings';
import type { ProbedService } from './service';

/** Routes that only some services have. */
const optionalRoutes = [
	'/v1/voices',
	'/v3/voices?page=1&page_size=1',
	'/v1i/models',
	'/v1/health-check',
	'/v1/tasks?page=1&limit=1',
];
const QUICK_LOOKS = 5;

async function account(service: ProbedService, findings: Findings): Promise<void> {
	const credits = await service.ask('/v1/credits');
	findings.add(
		['Shapes', 'Balance (GET /v1/credits)'],
		'200, a number in "credits"',
		inWords(credits),
		credits.status === 200 && isObject(credits.json) && typeof credits.json.credits === 'number',
	);
	findings.add(
		['Shapes', 'Balance: can the nodes read it?'],
		'yes',
		creditsOf(credits.json) === undefined ? 'no' : 'yes',
		creditsOf(credits.json) !== undefined,
	);
	const keys = await service.ask('/v1/api-keys');
	const list = apiKeysOf(keys.json);
	findings.add(
		['Resources', 'Keys (GET /v1/api-keys)'],
		'200, a list in "data"',
		inWords(keys),
		keys.status === 200 && isObject(keys.json) && Array.isArray(keys.json.data),
	);
	findings.add(
		['Resources', 'Fields of a listed key'],
		'left open',
		list?.[0] === undefined ? 'no key listed' : shapeOf(list[0]),
	);
	const whole = JSON.stringify(keys.json ?? '').match(/sk_[\w-]{12,}/g)?.length ?? 0;
	findings.add(['Resources', 'Secrets in the list'], 'left open', `${whole} in full`);
}

async function authentication(service: ProbedService, findings: Findings): Promise<void> {
	const wrong = await service.ask('/v1/credits', { key: 'sk_probe_of_a_wrong_key' });
	const refusal = isObject(wrong.json) ? wrong.json : {};
	findings.add(
		['Errors', 'A wrong key'],
		'401 {success: false, error: words}',
		inWords(wrong),
		wrong.status === 401 && refusal.success === false && typeof refusal.error === 'string',
	);
	const none = await service.ask('/v1/credits', { header: 'none' });
	findings.add(['Authentication', 'No key'], '401', inWords(none), none.status === 401);
	const other = await service.ask('/v1/credits', { header: 'xi-api-key' });
	findings.add(
		['More routes', 'The key in the header xi-api-key'],
		'left open',
		other.status === 200 ? 'taken' : `not taken: ${inWords(other)}`,
	);
}

async function routes(service: ProbedService, findings: Findings): Promise<void> {
	const foreign = randomUUID();
	for (const route of ['v1', 'v1e']) {
		const unknown = await service.ask(`/${route}/task/${foreign}`);
		findings.add(
			['Poll routes', `A task that does not exist (GET /${route}/task/{id})`],
			'404 with words',
			inWords(unknown),
			unknown.status === 404 && isObject(unknown.json) && errorTextOf(unknown.json) !== undefined,
		);
	}
	const nowhere = await service.ask('/v1/no-such-route');
	findings.add(
		['HTTP', 'A route that does not exist'],
		'404',
		inWords(nowhere),
		nowhere.status === 404,
	);
	for (const route of optionalRoutes) {
		const answer = await service.ask(route);
		const there = answer.status === 200;
		findings.add(
			['More routes', `GET ${route}`],
			'optional',
			there ? inWords(answer) : `not there (${answer.status})`,
		);
	}
}

async function throttling(service: ProbedService, findings: Findings): Promise<void> {
	const foreign = randomUUID();
	const answers = await Promise.all(
		Array.from({ length: QUICK_LOOKS }, () => service.ask(`/v1/task/${foreign}`)),
	);
	const kinds = [...new Set(answers.map((answer) => inWords(answer)))];
	findings.add(
		['HTTP', `${QUICK_LOOKS} looks at once`],
		'all answered alike',
		kinds.join(' | '),
		kinds.length === 1 && answers[0]?.status === 404,
	);
}

/** Everything that reading shows, by about twenty requests. */
export async function readOnly(service: ProbedService, findings: Findings): Promise<void> {
	await account(service, findings);
	await authentication(service, findings);
	await routes(service, findings);
	await throttling(service, findings);
}
