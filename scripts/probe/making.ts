/** What only a paid task shows: its creation, its life as polling shows it, its files. */
import { setTimeout as delay } from 'node:timers/promises';
import { asNumber, isObject } from '../../nodes/MediaGeneration/base/json';
import type { CreationRequest } from '../../nodes/MediaGeneration/actions/operation';
import { outputsOf } from '../../nodes/MediaGeneration/transport/outputs';
import { creditsOf, parseTask, taskIdOf } from '../../nodes/MediaGeneration/transport/task';
import { inWords, type See, shapeOf } from './findings';
import type { Answer, ProbedService } from './service';

export const defaultValues = {
	voiceId: '21m00Tcm4TlvDq8ikWAM',
	speechModel: 'eleven_multilingual_v2',
	outputFormat: 'mp3_44100_128',
	voice: 'en-US-AriaNeural',
	imageModel: 'image-1',
};
type Values = typeof defaultValues;

export interface ProbeOptions extends Values {
	baseUrl: string;
	apiKey: string;
	/** Make one task of each kind. */
	spend?: boolean;
	/** Make one more, with this address of this machine as the service reaches it, and watch its callbacks. The port is where it leads to. */
	callback?: string;
	port: number;
	/** How long to wait for repeats of a callback, and for the end of a task or the first callback, s. */
	watch: number;
	patience: number;
	pollMs: number;
	/** Told of every task that was made, as soon as its ID is known. */
	log: (text: string) => void;
}

/** Its name, and the least that can be ordered. */
type Kind = readonly [name: string, request: CreationRequest];

export const soundEffect: Kind = [
	'sound effect',
	{ kind: 'sound-effect', path: '/v1/task/sound-effect', body: { text: 'A click' } },
];

/** The routes of docs/service.md, "Endpoints". */
export function kindsOf({ voiceId, speechModel, outputFormat, voice, imageModel }: Values): Kind[] {
	const byId: CreationRequest = {
		...{ kind: 'speech', speechRoute: 'auto', pathFields: { voice_id: voiceId } },
		path: `/v1/text-to-speech/${encodeURIComponent(voiceId)}`,
		qs: { output_format: outputFormat },
		body: { text: 'One.', model_id: speechModel },
	};
	const byName = { text: 'One.', voice, with_transcript: true };
	// As the option Context Between Parts sends a part of a long text.
	const between = { ...byId.body, previous_text: 'Zero.', next_text: 'Two.' };
	const image = { prompt: 'A dot', model_id: imageModel, generations_count: 1 };
	return [
		soundEffect,
		['speech by voice ID', byId],
		['speech between other parts', { ...byId, body: between }],
		[
			'speech by voice name',
			{ kind: 'speech-v1e', path: '/v1e/task/text-to-speech', body: byName },
		],
		['image', { kind: 'image', path: '/v1i/task/generate-image', body: image }],
	];
}

export type Probing = ProbeOptions & { see: See };

/** Makes one task, waits for it, and reports what it showed. */
export async function makeOne(service: ProbedService, [name, request]: Kind, making: Probing) {
	const { log, see } = making;
	const balance = async () => creditsOf((await service.get('/v1/credits')).json) ?? Number.NaN;
	const before = await balance();
	const answer = await service.create(request);
	reportCreation(answer, see);
	const taskId = taskIdOf(answer.json);
	if (taskId === undefined) return;
	log(`Task ${taskId}: ${name}`);
	const life = await follow(service, taskId, making);
	reportLife(life, see);
	const url = reportEnd(name, life, see);
	if (url !== undefined) await reportFile(url, service, see);
	const cost = before - (await balance());
	see('price', Number.isNaN(cost) ? 'the balance could not be read' : `${cost} credits`);
}

type Life = Awaited<ReturnType<typeof follow>>;

/** Looks at a task until it is over and has a result, or patience ends; by the second route until one of them has shown it. */
async function follow(service: ProbedService, taskId: string, { pollMs, patience }: Probing) {
	// What both showed right after the creation, the task at each later look, and looks that did not show it.
	const first = { v1: await service.look('v1', taskId), v1e: await service.look('v1e', taskId) };
	const seen = [];
	const unclear = new Set<string>();
	let route: 'v1' | 'v1e' = first.v1.status !== 200 && first.v1e.status === 200 ? 'v1e' : 'v1';
	for (const until = Date.now() + patience * 1000; Date.now() < until;) {
		const answer = await service.look(route, taskId);
		const task = answer.status === 200 ? parseTask(answer.json) : undefined;
		if (task === undefined) unclear.add(inWords(answer));
		else seen.push({ ...task, isWrapped: isObject(answer.body.data) });
		if (task?.state === 'failed' || (task?.state === 'done' && outputsOf(task).length > 0)) break;
		if (seen.length === 0) route = route === 'v1' ? 'v1e' : 'v1';
		await delay(pollMs);
	}
	return { first, seen, unclear };
}

function reportCreation(answer: Answer, see: See): void {
	const { status, json, body } = answer;
	const isMade = taskIdOf(json) !== undefined;
	// What may have been made although nobody says so is never sent again.
	const copes = isMade || status === 0 || status >= 500;
	see('creation', inWords(answer), status === 200 && isMade && body.success === true, copes);
	const texts = Object.keys(body).filter(
		(field) => field.includes('credits') && typeof body[field] === 'string',
	);
	see('numbers', `as strings: ${texts.join(', ') || 'none'}`, texts.length === 0);
}

function reportLife({ first, seen, unclear }: Life, see: See): void {
	see('firstV1', inWords(first.v1), first.v1.status === 200, seen.length > 0);
	see('firstV1e', inWords(first.v1e));
	const running = seen.filter(({ state }) => state === 'running');
	const names = [...new Set(running.map(({ status }) => status))].join(', ');
	see('running', names || 'none seen', ['', 'doing'].includes(names));
	const words = [...new Set(running.flatMap(({ errorText }) => errorText ?? []))].join(' | ');
	see('words', words || 'none', words === '');
	see('unclear', [...unclear].join(' | ') || 'none', unclear.size === 0, seen.length > 0);

	const progress = seen.map(({ raw }) => raw.progress);
	const numbers = progress.map((value) => (typeof value === 'number' ? value : Number.NaN));
	const goesBack = numbers.some((value, index) => value < (numbers[index - 1] ?? 0));
	const kinds = [...new Set(progress.map((value) => (value === null ? 'null' : typeof value)))];
	const isDone = seen.at(-1)?.state === 'done';
	const end = isDone ? `, ${String(asNumber(progress.at(-1)))} at the end` : '';
	const isWhole = String(kinds) === 'number' && (!isDone || progress.at(-1) === 100);
	see('progress', `${kinds.join()}${goesBack ? ', goes back' : ''}${end}`, isWhole && !goesBack);
}

/** The address of its first file. */
function reportEnd(name: string, { seen }: Life, see: See): string | undefined {
	const task = seen.at(-1);
	if (task === undefined || task.state === 'running') return undefined;
	const { raw, status, errorText = '', isWrapped } = task;
	see('end', `${status} ${errorText}`.trim(), task.state === 'done');
	see('place', isWrapped ? 'in "data"' : 'at the root', !isWrapped);
	const isSound = name === 'sound effect';
	see('type', String(raw.type), isSound ? raw.type === 'sound_effect' : undefined, false);
	see('fields', shapeOf({ ...raw, metadata: '' }));
	if (task.state !== 'done') return undefined;
	const metadata = isObject(raw.metadata) ? raw.metadata : {};
	const result = name === 'image' ? 'result_images' : 'audio_url';
	see('metadata', shapeOf(metadata, 3), result in metadata);
	const without = seen.filter((it) => it.state === 'done' && outputsOf(it).length === 0).length;
	see('result', without === 0 ? 'at once' : `${without} looks without`, without === 0);
	const files = outputsOf(task);
	see('files', files.map(({ kind }) => kind).join(', ') || 'none', files.length > 0, false);
	return files[0]?.url;
}

async function reportFile(url: string, service: ProbedService, see: See): Promise<void> {
	const answer = await service.ask(url, { headers: { range: 'bytes=0-99' } });
	const status = answer.status === 0 ? inWords(answer) : String(answer.status);
	const isSame = new URL(url).host === new URL(service.baseUrl).host;
	see('host', isSame ? 'the same' : 'another', !isSame);
	see('keyless', status, ['200', '206'].includes(status), false);
	see('parts', status, status === '206');
	see('fileType', answer.type, /^(audio|image)\//.test(answer.type));
}

/** A creation that has to be refused: it lacks its text. */
export async function refusedCreation(service: ProbedService, see: See): Promise<void> {
	const answer = await service.post(soundEffect[1].path, {});
	const { status, body } = answer;
	const isMade = taskIdOf(body) !== undefined;
	const copes = isMade || (status >= 400 && status < 500) || body.success === false;
	see('noText', inWords(answer), [400, 422].includes(status) && !isMade, copes);
}
