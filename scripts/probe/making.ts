/** What only a paid task shows: its creation, its life seen by polling, its files. */
import { asNumber, isObject, type JsonObject } from '../../nodes/MediaGeneration/service/json';
import { outputsOf } from '../../nodes/MediaGeneration/service/outputs';
import { creditsOf, taskIdOf } from '../../nodes/MediaGeneration/service/task';
import { type Findings, inWords, shapeOf } from './findings';
import type { Kind } from './kinds';
import { follow, type Life, type Pace } from './life';
import { type Answer, type ProbedService, request } from './service';

/** The task object itself, out of its wrapping. */
const bare = (body: unknown): JsonObject =>
	isObject(body) ? (isObject(body.data) ? body.data : body) : {};

function reportCreation(kind: Kind, answer: Answer, findings: Findings): void {
	const taskId = taskIdOf(answer.json);
	findings.add(
		['Shapes', `Creation of a ${kind.name}`],
		'200 {success: true, task_id, ...}',
		inWords(answer),
		answer.status === 200 &&
			taskId !== undefined &&
			isObject(answer.json) &&
			answer.json.success === true,
	);
	if (!isObject(answer.json)) return;
	const strings = Object.entries(answer.json)
		.filter(([name, value]) => /credits/.test(name) && typeof value === 'string')
		.map(([name]) => name);
	findings.add(
		['Shapes', `Creation of a ${kind.name}: numbers`],
		'are numbers',
		strings.length === 0 ? 'no number as a string' : `strings: ${strings.join(', ')}`,
		strings.length === 0,
	);
}

function reportProgress(kind: Kind, { progress, task }: Life, findings: Findings): void {
	const numbers = progress.map((value) => (typeof value === 'number' ? value : Number.NaN));
	const back = numbers.some((value, index) => index > 0 && value < (numbers[index - 1] ?? 0));
	const kinds = [...new Set(progress.map((value) => (value === null ? 'null' : typeof value)))];
	const end = task?.state === 'done' ? `, ${String(asNumber(task.raw.progress))} at the end` : '';
	findings.add(
		['Status', `Progress of a ${kind.name}`],
		'whole numbers that do not go back, 100 at the end',
		`${kinds.join(', ')}${back ? ', goes back' : ''}${end}`,
		!back && kinds.join() === 'number' && (task?.state !== 'done' || task.raw.progress === 100),
	);
}

function reportLife(kind: Kind, life: Life, findings: Findings): void {
	for (const route of ['v1', 'v1e'] as const) {
		const found = life.first[route].status === 200;
		findings.add(
			['Poll routes', `Right after its creation, /${route} shows a ${kind.name}`],
			route === 'v1' ? 'yes' : 'left open',
			found ? 'yes' : `no: ${inWords(life.first[route])}`,
			route === 'v1' ? found : undefined,
		);
	}
	const running = [...life.statuses].filter((status) => !['done', 'error'].includes(status));
	findings.add(
		['Status', `Names of a running ${kind.name}`],
		'doing',
		running.join(', ') || 'none seen',
		running.every((status) => status === 'doing'),
	);
	reportProgress(kind, life, findings);
	findings.add(
		['Status', `error_message of a running ${kind.name}`],
		'none',
		[...life.words].join(' | ') || 'none',
		life.words.size === 0,
	);
	findings.add(
		['HTTP', `Looks at a ${kind.name} that said nothing of it`],
		'none',
		[...life.unclear].join(' | ') || 'none',
		life.unclear.size === 0,
	);
}

function reportEnd(kind: Kind, life: Life, findings: Findings): void {
	const { last, task } = life;
	const about = (question: string): [string, string] => ['Shapes', `${kind.name}: ${question}`];
	if (last === undefined || task === undefined)
		return findings.open(about('its end'), 'done or error, within the time that was given');
	findings.add(
		about('its end'),
		'done',
		`${task.status} ${task.errorText ?? ''}`.trim(),
		task.state === 'done',
	);
	const body = bare(last.json);
	const wrapped = isObject(last.json) && isObject(last.json.data);
	findings.add(
		about('where the task stands'),
		'at the root',
		wrapped ? 'in "data"' : 'at the root',
		!wrapped,
	);
	findings.add(
		about('its type'),
		kind.type ?? 'left open',
		String(body.type),
		kind.type === undefined ? undefined : body.type === kind.type,
	);
	findings.add(about('its fields'), 'left open', shapeOf({ ...body, metadata: '' }));
	if (task.state !== 'done') return;
	const metadata = isObject(body.metadata) ? body.metadata : {};
	findings.add(about('its metadata'), kind.result, shapeOf(metadata, 3), kind.result in metadata);
	findings.add(
		['Status', `A ${kind.name} that is done`],
		'has its result at once',
		life.withoutResult === 0 ? 'at once' : `${life.withoutResult} looks without`,
		life.withoutResult === 0,
	);
	findings.add(
		about('results that the nodes find'),
		'1 or more',
		outputsOf(task)
			.map(({ kind: found }) => found)
			.join(', '),
		true,
	);
}

async function reportFile(
	kind: Kind,
	url: string,
	host: string,
	findings: Findings,
): Promise<void> {
	const about = (question: string): [string, string] => [
		'HTTP',
		`File of a ${kind.name}: ${question}`,
	];
	const answer = await request(url, { headers: { range: 'bytes=0-99' } }, false);
	findings.add(
		about('its host'),
		'another than the API',
		new URL(url).host === host ? 'the same' : 'another',
		new URL(url).host !== host,
	);
	findings.add(
		about('without a key'),
		'200 or 206',
		answer.status === 0 ? inWords(answer) : String(answer.status),
		[200, 206].includes(answer.status),
	);
	findings.add(about('parts of it'), '206', String(answer.status), answer.status === 206);
	const type = answer.headers.get('content-type') ?? 'none';
	findings.add(about('its type'), 'audio/... or image/...', type, /^(audio|image)\//.test(type));
}

/** Makes one task, once, and reports on all of it. Its ID is logged as soon as it is known. */
export async function makeOne(
	service: ProbedService,
	kind: Kind,
	{ findings, pace, log }: { findings: Findings; pace: Pace; log: (text: string) => void },
): Promise<void> {
	const before = creditsOf((await service.ask('/v1/credits')).json);
	const answer = await service.ask(kind.path, { method: 'POST', body: kind.body });
	reportCreation(kind, answer, findings);
	const taskId = taskIdOf(answer.json);
	if (taskId === undefined) return;
	log(`Task ${taskId}: ${kind.name}`);
	const life = await follow(service, taskId, pace);
	reportLife(kind, life, findings);
	reportEnd(kind, life, findings);
	const [file] = life.task?.state === 'done' ? outputsOf(life.task) : [];
	if (file !== undefined) await reportFile(kind, file.url, service.host, findings);
	const after = creditsOf((await service.ask('/v1/credits')).json);
	const cost = before === undefined || after === undefined ? undefined : before - after;
	findings.add(
		['Resources', `Price of a ${kind.name}`],
		'left open',
		cost === undefined ? 'the balance could not be read' : `${cost} credits`,
	);
}

/** A creation that has to be refused: it lacks its text. */
export async function refusedCreation(service: ProbedService, findings: Findings): Promise<void> {
	const answer = await service.ask('/v1/task/sound-effect', { method: 'POST', body: {} });
	findings.add(
		['HTTP', 'A creation without its text'],
		'400 or 422, nothing created',
		inWords(answer),
		[400, 422].includes(answer.status) && taskIdOf(answer.json) === undefined,
	);
}
