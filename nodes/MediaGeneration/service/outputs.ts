/**
 * Which files a finished task offers. Pure.
 * Source: docs/service.md, "Resources" (the task's metadata) and "Shapes".
 */
import { type Task } from './task';
import { type JsonObject, asText, isObject } from './json';

export type OutputKind = 'audio' | 'image' | 'transcript' | 'file';

export interface TaskOutput {
	url: string;
	kind: OutputKind;
}

const IMAGE_PATH = /\.(png|jpe?g|webp|gif|avif|bmp|tiff?)$/i;
const AUDIO_PATH = /\.(mp3|wav|ogg|opus|m4a|aac|flac|weba)$/i;
const VIDEO_PATH = /\.(mp4|mov|webm|mkv)$/i;
const TRANSCRIPT_PATH = /\.(srt|vtt)$/i;
const TRANSCRIPT_KEY = /^(srt|vtt|json|transcript|subtitle)/i;
const BARE_KEY = /^ur[il]s?$/i;
const URL_KEY = /((^|_)ur[il]s?|Ur[il]s?)$/;
/** Addresses that are a smaller copy of a result. */
const PREVIEW_KEY = /preview|thumb|poster|waveform/i;
/** Addresses that the request itself carried. */
const ECHO_KEY =
	/receive|callback|webhook|reference|input|source|init|upload|request|prompt|voice/i;
/** What plays while the task runs is not a result, and is gone soon after. */
const STREAM_KEY = /stream/i;
/** The fields that the service is known to use, best first. */
const NAMED = ['output_uri', 'output_url', 'audio_url', 'all_audio_urls', 'srt_url', 'json_url'];
/** How deep results are looked for. */
const MAX_DEPTH = 5;

function httpUrl(value: unknown): string | undefined {
	const text = asText(value);
	if (text === undefined || !/^https?:\/\//i.test(text)) return undefined;
	return URL.canParse(text) ? text : undefined;
}

/** What a file is, by the name of its field, its path and the kind of the task. */
function kindOf(name: string, url: string, taskType: string): OutputKind {
	const path = new URL(url).pathname;
	if (TRANSCRIPT_KEY.test(name) || TRANSCRIPT_PATH.test(path)) return 'transcript';
	if (IMAGE_PATH.test(path)) return 'image';
	if (AUDIO_PATH.test(path)) return 'audio';
	if (/video/i.test(name) || VIDEO_PATH.test(path)) return 'file';
	if (/image/i.test(taskType) || /image/i.test(name)) return 'image';
	if (/audio/i.test(name) || /sound|speech|audio|voice|music/i.test(taskType)) return 'audio';
	return 'file';
}

function imagesOf({ result_images: images }: JsonObject): TaskOutput[] {
	return (Array.isArray(images) ? (images as unknown[]) : []).flatMap((entry): TaskOutput[] => {
		const image = isObject(entry) ? entry : { url: entry };
		// A preview is not a result where the picture itself is there (docs/service.md, "Shapes").
		const url = [image.imageUrl, image.image_url, image.url, image.previewUrl, image.preview_url]
			.map(httpUrl)
			.find((candidate) => candidate !== undefined);
		return url === undefined ? [] : [{ url, kind: 'image' }];
	});
}

/** An object of the metadata, with the name of the field that holds it. */
interface Holder {
	name: string;
	fields: JsonObject;
}

/** The objects one level below, but for those that hold what the request carried. */
function below({ fields }: Holder): Holder[] {
	return Object.entries(fields)
		.filter(([name]) => name !== 'result_images' && !ECHO_KEY.test(name) && !STREAM_KEY.test(name))
		.flatMap(([name, value]) =>
			(Array.isArray(value) ? (value as unknown[]) : [value]).map((entry) => ({
				name,
				fields: entry,
			})),
		)
		.filter((holder): holder is Holder => isObject(holder.fields));
}

/** Files in the order they were found, each once. */
class Found {
	readonly outputs: TaskOutput[] = [];
	private readonly seen = new Map<string, TaskOutput>();

	constructor(
		private readonly taskType: string,
		private readonly carried: ReadonlySet<string>,
	) {}

	add(output: TaskOutput): void {
		const known = this.seen.get(output.url);
		// A second name of the same file can say more about it than the first.
		if (known?.kind === 'file') known.kind = output.kind;
		if (known !== undefined || this.carried.has(output.url)) return;
		this.seen.set(output.url, output);
		this.outputs.push(output);
	}

	addField({ name, fields }: Holder, key: string): void {
		const values = Array.isArray(fields[key]) ? (fields[key] as unknown[]) : [fields[key]];
		for (const value of values) {
			const url = httpUrl(value);
			// A field that is just "url" takes the name of the object that holds it.
			if (url !== undefined)
				this.add({ url, kind: kindOf(BARE_KEY.test(key) ? name : key, url, this.taskType) });
		}
	}

	addNamed(holder: Holder): void {
		imagesOf(holder.fields).forEach((image) => this.add(image));
		for (const key of NAMED) this.addField(holder, key);
	}

	addOthers(holder: Holder, wanted: (key: string) => boolean): void {
		Object.keys(holder.fields)
			.filter((key) => URL_KEY.test(key) && !ECHO_KEY.test(key) && !STREAM_KEY.test(key))
			.filter(wanted)
			.forEach((key) => this.addField(holder, key));
	}
}

/**
 * The files of a finished task, each once: full pictures first, then the named outputs, then whatever else of the metadata
 * is an address, the deeper ones last. Previews count only when there is nothing better.
 *
 * @param echoes texts that the creation request carried, where they are known: addresses among them are not results
 */
export function outputsOf(task: Task, echoes: Iterable<string> = []): TaskOutput[] {
	const metadata = isObject(task.raw.metadata) ? task.raw.metadata : {};
	const found = new Found(task.type ?? '', new Set(echoes));
	const levels: Holder[][] = [];
	let level: Holder[] = [{ name: '', fields: metadata }];
	for (let depth = 0; depth < MAX_DEPTH && level.length > 0; depth += 1) {
		level.forEach((holder) => found.addNamed(holder));
		if (depth === 0) found.addNamed({ name: '', fields: task.raw });
		level.forEach((holder) => found.addOthers(holder, (key) => !PREVIEW_KEY.test(key)));
		levels.push(level);
		level = level.flatMap(below).filter(({ name }) => !PREVIEW_KEY.test(name));
	}
	if (found.outputs.length === 0)
		for (const holder of levels.flat()) found.addOthers(holder, (key) => PREVIEW_KEY.test(key));
	return found.outputs;
}
