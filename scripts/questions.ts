/** The questions of `npm run probe`. Each says what the nodes expect, and what to do where the service is otherwise. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { asNumber, asText, isObject, parseJson } from '../nodes/MediaGeneration/base/json';
import { outputsOf } from '../nodes/MediaGeneration/answers/outputs';
import { recordsOf } from '../nodes/MediaGeneration/answers/lists';
import { parseTask, taskIdOf, type Task } from '../nodes/MediaGeneration/answers/task';
import { creditsOf } from '../nodes/MediaGeneration/answers/balance';
import { newServer } from '../test/service/server';
import { table } from './table';

export interface ProbeOptions {
	baseUrl: string;
	apiKey: string;
	/** Whether to make one sound effect. */
	spend?: boolean;
	/** Address by which the service reaches this machine. */
	callback?: string;
	port: number;
	/** How long to wait for the task, s. */
	patience: number;
	pollMs: number;
	log: (text: string) => void;
}

export interface Finding {
	question: string;
	seen: string;
	/** What to do; undefined where the service is as expected. */
	advice: string | undefined;
}

interface Answer {
	/** 0 where no answer came. */
	status: number;
	text: string;
	json: unknown;
}

const NO_ROUTE = [404, 405, 410, 501];

function inWords({ status, json, text }: Answer): string {
	if (status === 0) return `no answer (${text})`;
	if (json === undefined) return `${status}, ${text.trim() === '' ? 'empty' : 'not JSON'}`;
	return isObject(json) ? `${status} {${Object.keys(json).join(', ')}}` : `${status}, a list`;
}

/** Sends requests to the service, and notes how it answers. */
class Probe {
	readonly findings: Finding[] = [];

	constructor(
		private readonly baseUrl: string,
		readonly apiKey: string,
	) {}

	async ask(path: string, init: RequestInit = {}, withKey = true): Promise<Answer> {
		const { baseUrl, apiKey } = this;
		const headers = withKey ? { authorization: `Bearer ${apiKey}`, ...init.headers } : init.headers;
		const url = path.startsWith('/') ? baseUrl.replace(/\/+$/, '') + path : path;
		const signal = AbortSignal.timeout(60_000);
		try {
			// No redirect is followed: the key must not travel along.
			const answer = await fetch(url, { ...init, headers, signal, redirect: 'manual' });
			const text = await answer.text();
			return { status: answer.status, text, json: parseJson(text) };
		} catch (error) {
			const { message, cause } = error as Error & { cause?: { code?: string } };
			return { status: 0, text: cause?.code ?? message, json: undefined };
		}
	}

	async post(path: string, body: object): Promise<Answer> {
		const headers = { 'content-type': 'application/json' };
		return await this.ask(path, { method: 'POST', headers, body: JSON.stringify(body) });
	}

	see(question: string, seen: string, [isExpected, advice]: [boolean, string]): void {
		const clean = seen.replaceAll(this.apiKey, '(key)');
		this.findings.push({ question, seen: clean, advice: isExpected ? undefined : advice });
	}
}

async function askAccount(probe: Probe): Promise<void> {
	const balance = await probe.ask('/v1/credits');
	probe.see('Balance', inWords(balance), [
		creditsOf(balance.json) !== undefined,
		'Check the Base URL. Without a balance the credential test and both limits on credits fail.',
	]);
	const header = { headers: { 'xi-api-key': probe.apiKey } };
	const other = await probe.ask('/v1/credits', header, false);
	const isOtherHeader = balance.status !== 200 && other.status === 200;
	probe.see('Key in the header xi-api-key', inWords(other), [
		!isOtherHeader,
		'Set Key Header of the credential to xi-api-key.',
	]);
	const nobody = { headers: { authorization: 'Bearer sk_of_nobody' } };
	const wrong = await probe.ask('/v1/credits', nobody, false);
	probe.see('A wrong key', inWords(wrong), [
		[401, 403].includes(wrong.status) && wrong.json !== undefined,
		'A refused key is not recognized by this answer: test the credential when waits time out.',
	]);
}

async function askPolling(probe: Probe): Promise<void> {
	const unknown = `/v1/task/${randomUUID()}`;
	const none = await probe.ask(unknown);
	probe.see('A task that does not exist', inWords(none), [
		none.status === 404,
		'Set a short Timeout where task IDs come from elsewhere: a wrong one is waited for until then.',
	]);
	const route = await probe.post('/v1/task/no-such-route', {});
	probe.see('A route that does not exist', inWords(route), [
		route.status >= 400 && route.status < 500,
		'Check the path of Task: Create first: a wrong one ends as "unknown" instead of "rejected".',
	]);
	const five = await Promise.all(Array.from({ length: 5 }, async () => await probe.ask(unknown)));
	const statuses = [...new Set(five.map(({ status }) => status))];
	probe.see('Five polls at once', statuses.join(', '), [
		!statuses.some((status) => status === 401 || status === 403),
		'Lower Max Active Tasks: throttling looks like a refused key.',
	]);
}

/** Routes that a service may have or not, and what to do without. */
const OPTIONAL: Array<[method: 'GET' | 'POST', path: string, advice: string]> = [
	['GET', '/v3/voices?provider=minimax', 'Enter voices of other providers by ID.'],
	['GET', '/v1/voices', 'Without /v3/voices, too, enter voices by ID.'],
	['GET', '/v1i/models', 'Enter models of images by ID.'],
	['POST', '/v1i/task/price', 'Do without Image: Get Price.'],
	['POST', '/v1/task/delete', 'Do without Task: Delete.'],
];

async function askOptional(probe: Probe): Promise<void> {
	for (const [method, path, advice] of OPTIONAL) {
		const answer = method === 'GET' ? await probe.ask(path) : await probe.post(path, {});
		probe.see(`${method} ${path}`, inWords(answer), [!NO_ROUTE.includes(answer.status), advice]);
	}
}

/** What a lost creation is found by. */
async function askList(probe: Probe, taskId?: string): Promise<void> {
	const answer = await probe.ask('/v1/tasks?page=1&limit=20');
	const tasks = recordsOf(answer.json)?.filter(isObject);
	probe.see('List of tasks', inWords(answer), [
		tasks !== undefined,
		'A creation without an answer ends as "unknown" and can not be found again: look at the account.',
	]);
	const [first] = tasks ?? [];
	if (first === undefined) return;
	const time = asText(first.created_at ?? first.createdAt ?? first.created);
	probe.see('Times in that list', time ?? 'none', [
		asNumber(time) !== undefined || /(Z|[+-]\d\d:?\d\d)$/.test(time ?? ''),
		'Lost creations are named as candidates, as their age can not be read.',
	]);
	const text = asText(first.text ?? first.prompt);
	probe.see('Texts in that list', text === undefined ? 'none' : 'there', [
		text !== undefined,
		'Lost creations are named as candidates, as their text can not be compared.',
	]);
	if (taskId === undefined) return;
	const isListed = tasks?.some((task) => taskIdOf(task) === taskId) === true;
	probe.see('The new task in that list', isListed ? 'there' : 'missing', [
		isListed,
		'The list lags, or lacks this kind of task: a lost creation may not be found.',
	]);
}

/** Answers the first call with 503, to see whether it is repeated. */
async function listen(port: number) {
	/** Bodies of the callbacks. */
	const came: unknown[] = [];
	const server = newServer();
	server.all('*', async (request, reply) => {
		return await reply.status(came.push(request.body) === 1 ? 503 : 200).send({});
	});
	await server.listen({ port, host: '::' });
	return { came, close: async () => await server.close() };
}

/** Makes one sound effect, once, and follows it to its end. @returns its ID */
async function spend(probe: Probe, options: ProbeOptions): Promise<string | undefined> {
	const refused = await probe.post('/v1/task/sound-effect', {});
	probe.see('A creation without its text', inWords(refused), [
		refused.status >= 400 && refused.status < 500 && taskIdOf(refused.json) === undefined,
		'A refused creation ends as "unknown": look at the tasks of the account before a new run.',
	]);
	const calls = options.callback === undefined ? undefined : await listen(options.port);
	try {
		const body = { text: 'A click', receive_url: options.callback };
		const created = await probe.post('/v1/task/sound-effect', body);
		const taskId = taskIdOf(created.json);
		probe.see('A creation', inWords(created), [
			taskId !== undefined,
			'The nodes find no task ID in this answer.',
		]);
		if (taskId === undefined) return undefined;
		options.log(`Task ${taskId}: a sound effect`);
		await follow(probe, taskId, options);
		if (calls !== undefined) await reportCalls(probe, calls.came, options);
		return taskId;
	} finally {
		await calls?.close();
	}
}

async function follow(probe: Probe, taskId: string, options: ProbeOptions): Promise<void> {
	const path = `/v1/task/${encodeURIComponent(taskId)}`;
	let task: Task | undefined;
	const until = Date.now() + options.patience * 1_000;
	while ((task === undefined || task.state === 'running') && Date.now() < until) {
		task = parseTask((await probe.ask(path)).json);
		if (task?.state !== 'done') await delay(options.pollMs);
	}
	const files = task?.state === 'done' ? outputsOf(task) : [];
	probe.see('Its files', `${task?.status ?? 'no task'}: ${files.length}`, [
		files.length > 0,
		'Switch Download Output off and take the address from the output; please report its fields.',
	]);
	const url = files[0]?.url;
	if (url === undefined) return;
	const file = await probe.ask(new URL(url, options.baseUrl).href, {}, false);
	probe.see('Its file without the key', String(file.status), [
		file.status === 200,
		'Switch Download Output off: the nodes send no key for files.',
	]);
}

async function reportCalls(probe: Probe, came: unknown[], options: ProbeOptions): Promise<void> {
	const until = Date.now() + options.patience * 1_000;
	while (came.length < 2 && Date.now() < until) await delay(options.pollMs);
	probe.see('A callback', came.length === 0 ? 'none came' : 'it came', [
		parseTask(came[0]) !== undefined,
		'Sleeping executions are woken by their own polls; the trigger does not run.',
	]);
	probe.see('Sent again after 503', came.length > 1 ? 'yes' : 'no', [
		came.length !== 1,
		'A callback that n8n could not take is lost: sweep with Task: Get Many.',
	]);
}

/** Asks all questions. No creation is ever sent twice. */
export async function probe(options: ProbeOptions): Promise<Finding[]> {
	const asking = new Probe(options.baseUrl, options.apiKey);
	await askAccount(asking);
	await askPolling(asking);
	await askOptional(asking);
	const taskId = options.spend === true ? await spend(asking, options) : undefined;
	await askList(asking, taskId);
	return asking.findings;
}

/** A row for each question, and what to do where the service is otherwise. */
export function printed(findings: readonly Finding[]): string {
	const otherwise = findings.filter(({ advice }) => advice !== undefined);
	const rows = findings.map(({ question, seen, advice }) => [
		question,
		seen,
		advice === undefined ? '' : 'otherwise',
	]);
	return [
		table(['Question', 'Seen', ''], rows),
		'',
		...otherwise.map(({ question, advice }) => `  ${question}: ${advice}`),
		'',
		`  ${findings.length} questions, ${otherwise.length} answered otherwise than the nodes expect. --spend and --callback ask more.`,
	].join('\n');
}
