/** What only a paid task shows: its creation, its life as polling shows it, its files. */
import { setTimeout as delay } from 'node:timers/promises';
import { asNumber, isObject, type JsonObject } from '../../nodes/MediaGeneration/service/json';
import { outputsOf } from '../../nodes/MediaGeneration/service/outputs';
import {
	creditsOf,
	parseTask,
	type Task,
	taskIdOf,
} from '../../nodes/MediaGeneration/service/task';
import { type Findings, inWords, type See, shapeOf } from './findings';
import { type Answer, type ProbedService, request } from './service';

export const defaultValues = {
	voiceId: '21m00Tcm4TlvDq8ikWAM',
	speechModel: 'eleven_multilingual_v2',
	outputFormat: 'mp3_44100_128',
	voice: 'en-US-AriaNeural',
	imageModel: 'image-1',
};
export type Values = typeof defaultValues;

export interface Pace {
	pollMs: number;
	patienceMs: number;
}

interface Kind {
	name: string;
	path: string;
	body: JsonObject;
}

export const soundEffect: Kind = {
	name: 'sound effect',
	path: '/v1/task/sound-effect',
	body: { text: 'A click' },
};

/** The routes of docs/service.md, "Endpoints", each with the least that can be ordered. */
export function kindsOf({ voiceId, speechModel, outputFormat, voice, imageModel }: Values): Kind[] {
	const byId = `/v1/text-to-speech/${encodeURIComponent(voiceId)}?output_format=${encodeURIComponent(outputFormat)}`;
	const byName = { text: 'One.', voice, with_transcript: true };
	const spoken = { text: 'One.', model_id: speechModel };
	// As the option Context Between Parts sends a part of a long text.
	const between = { ...spoken, previous_text: 'Zero.', next_text: 'Two.' };
	const image = { prompt: 'A dot', model_id: imageModel, generations_count: 1 };
	return [
		soundEffect,
		{ name: 'speech by voice ID', path: byId, body: spoken },
		{ name: 'speech between other parts', path: byId, body: between },
		{ name: 'speech by voice name', path: '/v1e/task/text-to-speech', body: byName },
		{ name: 'image', path: '/v1i/task/generate-image', body: image },
	];
}

/** What both routes answered right after the creation; the task at each look that showed it; looks that did not; the answer that showed its end. */
interface Life {
	first: { v1: Answer; v1e: Answer };
	seen: Task[];
	unclear: Set<string>;
	last: Answer | undefined;
}

/** Looks at a task until it is over and has a result, or patience ends; by the second route until one of them has shown it. */
async function follow(service: ProbedService, taskId: string, pace: Pace): Promise<Life> {
	const look = async (route: 'v1' | 'v1e') =>
		await service.get(`/${route}/task/${encodeURIComponent(taskId)}`);
	const first = { v1: await look('v1'), v1e: await look('v1e') };
	const life: Life = { first, seen: [], unclear: new Set(), last: undefined };
	let route: 'v1' | 'v1e' = first.v1.status !== 200 && first.v1e.status === 200 ? 'v1e' : 'v1';
	for (const until = Date.now() + pace.patienceMs; Date.now() < until;) {
		const answer = await look(route);
		const task = answer.status === 200 ? parseTask(answer.json) : undefined;
		if (task === undefined) life.unclear.add(inWords(answer));
		else life.seen.push(task);
		if (task !== undefined && task.state !== 'running') life.last = answer;
		if (task?.state === 'failed' || (task && outputsOf(task).length > 0 && life.last)) break;
		if (life.seen.length === 0) route = route === 'v1' ? 'v1e' : 'v1';
		await delay(pace.pollMs);
	}
	return life;
}

function reportCreation(answer: Answer, see: See): void {
	const { status, json } = answer;
	const body = isObject(json) ? json : {};
	const isMade = taskIdOf(json) !== undefined;
	// What may have been made although nobody says so is never sent again.
	const copes = isMade || status === 0 || status >= 500;
	const usual = status === 200 && isMade && body.success === true;
	see('creation', inWords(answer), usual || (copes ? 'copes' : 'fails'));
	const texts = Object.keys(body).filter(
		(field) => field.includes('credits') && typeof body[field] === 'string',
	);
	see('numbers', `as strings: ${texts.join(', ') || 'none'}`, !texts[0] || 'copes');
}

function reportProgress(seen: readonly Task[], see: See): void {
	const all = seen.map(({ raw }) => raw.progress);
	const numbers = all.map((value) => (typeof value === 'number' ? value : Number.NaN));
	const back = numbers.some((value, index) => value < (numbers[index - 1] ?? 0));
	const kinds = [...new Set(all.map((value) => (value === null ? 'null' : typeof value)))].join();
	const isDone = seen.at(-1)?.state === 'done';
	const end = isDone ? `, ${String(asNumber(all.at(-1)))} at the end` : '';
	const usual = !back && kinds === 'number' && (!isDone || all.at(-1) === 100);
	see('progress', `${kinds}${back ? ', goes back' : ''}${end}`, usual || 'copes');
}

function reportLife({ first, seen, unclear }: Life, see: See): void {
	const otherwise = seen.length === 0 ? 'fails' : 'copes';
	const shown = (answer: Answer) => (answer.status === 200 ? 'yes' : `no: ${inWords(answer)}`);
	see('firstV1', shown(first.v1), first.v1.status === 200 || otherwise);
	see('firstV1e', shown(first.v1e));
	const running = seen.filter(({ state }) => state === 'running');
	const names = [...new Set(running.map(({ status }) => status))].join(', ');
	see('running', names || 'none seen', ['', 'doing'].includes(names) || 'copes');
	reportProgress(seen, see);
	const words = [...new Set(running.flatMap(({ errorText }) => errorText ?? []))].join(' | ');
	see('words', words || 'none', words === '' || 'copes');
	const nothing = [...unclear].join(' | ');
	see('unclear', nothing || 'none', nothing === '' || otherwise);
}

function reportEnd({ name }: Kind, { last, seen }: Life, see: See): Task | undefined {
	const task = seen.at(-1);
	if (last === undefined || task === undefined) return undefined;
	const { raw, status, errorText = '' } = task;
	see('end', `${status} ${errorText}`.trim(), task.state === 'done' || 'copes');
	const wrapped = isObject(last.json) && isObject(last.json.data);
	see('place', wrapped ? 'in "data"' : 'at the root', !wrapped || 'copes');
	const usual = name === soundEffect.name && (raw.type === 'sound_effect' || 'fails');
	see('type', String(raw.type), usual || 'noted');
	see('fields', shapeOf({ ...raw, metadata: '' }));
	if (task.state !== 'done') return undefined;
	const metadata = isObject(raw.metadata) ? raw.metadata : {};
	const result = name === 'image' ? 'result_images' : 'audio_url';
	see('metadata', shapeOf(metadata, 3), result in metadata || 'copes');
	const without = seen.filter((it) => it.state === 'done' && outputsOf(it).length === 0).length;
	see('result', without === 0 ? 'at once' : `${without} looks without`, without === 0 || 'copes');
	const found = outputsOf(task)
		.map(({ kind }) => kind)
		.join(', ');
	see('files', found || 'none', found !== '' || 'fails');
	return task;
}

async function reportFile(url: string, service: ProbedService, see: See): Promise<void> {
	const answer = await request(url, { headers: { range: 'bytes=0-99' } }, false);
	const status = answer.status === 0 ? inWords(answer) : String(answer.status);
	const same = new URL(url).host === new URL(service.baseUrl).host;
	see('host', same ? 'the same' : 'another', !same || 'copes');
	see('keyless', status, ['200', '206'].includes(status) || 'fails');
	see('parts', status, status === '206' || 'copes');
	const type = answer.headers.get('content-type') ?? 'none';
	see('fileType', type, /^(audio|image)\//.test(type) || 'copes');
}

export interface Telling {
	findings: Findings;
	/** Told of every task that was made, as soon as its ID is known. */
	log: (text: string) => void;
}

export async function makeOne(
	service: ProbedService,
	kind: Kind & { pace: Pace },
	{ findings, log }: Telling,
): Promise<void> {
	const see = findings.of(kind.name);
	const balance = async () => creditsOf((await service.get('/v1/credits')).json) ?? Number.NaN;
	const before = await balance();
	const answer = await service.post(kind.path, kind.body);
	reportCreation(answer, see);
	const taskId = taskIdOf(answer.json);
	if (taskId === undefined) return;
	log(`Task ${taskId}: ${kind.name}`);
	const life = await follow(service, taskId, kind.pace);
	reportLife(life, see);
	const done = reportEnd(kind, life, see);
	const [file] = done === undefined ? [] : outputsOf(done);
	if (file !== undefined) await reportFile(file.url, service, see);
	const cost = before - (await balance());
	see('price', Number.isNaN(cost) ? 'the balance could not be read' : `${cost} credits`);
}

/** A creation that has to be refused: it lacks its text. */
export async function refusedCreation(service: ProbedService, see: See): Promise<void> {
	const answer = await service.post(soundEffect.path, {});
	const { status, json } = answer;
	const isMade = taskIdOf(json) !== undefined;
	const refused = (status >= 400 && status < 500) || (isObject(json) && json.success === false);
	const usual = [400, 422].includes(status) && !isMade;
	see('noText', inWords(answer), usual || (refused || isMade ? 'copes' : 'fails'));
}
