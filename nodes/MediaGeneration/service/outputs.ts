/**
 * Which files a finished task offers. Pure.
 * Sources: spec "Task" (metadata), service-facts "Shapes": metadata.
 */
import { type Task } from './task';
import { type JsonObject, asText, isObject } from './json';

export type OutputKind = 'audio' | 'image' | 'transcript' | 'file';

export interface TaskOutput {
	url: string;
	kind: OutputKind;
	/** The MIME type that the service states for it, if any. */
	statedType?: string;
}

const IMAGE_PATH = /\.(png|jpe?g|webp|gif|avif|bmp|tiff?)$/i;
const AUDIO_PATH = /\.(mp3|wav|ogg|opus|m4a|aac|flac|weba)$/i;
const TRANSCRIPT_PATH = /\.(srt|vtt)$/i;
const URL_KEY = /(_ur[il]s?|Ur[il]s?)$/;
/** Addresses that are a smaller copy of a result, or that the request itself carried. */
const PREVIEW_KEY = /preview|thumb|poster|waveform/i;
const ECHO_KEY =
	/receive|callback|webhook|reference|input|source|init|upload|request|prompt|voice/i;

function httpUrl(value: unknown): string | undefined {
	const text = asText(value);
	if (text === undefined || !/^https?:\/\//i.test(text)) return undefined;
	return URL.canParse(text) ? text : undefined;
}

function pathOf(url: string): string {
	return new URL(url).pathname;
}

/** What a file is, by the name of its field, its path and the kind of the task. */
function kindOf(key: string, url: string, taskType: string): OutputKind {
	const path = pathOf(url);
	if (/^(srt|vtt|json|transcript|subtitle)/i.test(key) || TRANSCRIPT_PATH.test(path))
		return 'transcript';
	if (IMAGE_PATH.test(path)) return 'image';
	if (AUDIO_PATH.test(path)) return 'audio';
	if (/image/i.test(taskType) || /image/i.test(key)) return 'image';
	if (/audio/i.test(key) || /sound|speech|audio|voice|music/i.test(taskType)) return 'audio';
	return 'file';
}

function imagesOf(metadata: JsonObject): TaskOutput[] {
	const images = Array.isArray(metadata.result_images) ? (metadata.result_images as unknown[]) : [];
	return images.flatMap((entry): TaskOutput[] => {
		const image = isObject(entry) ? entry : { url: entry };
		// A preview is no result where the picture itself is there (service-facts, Shapes).
		const url = [image.imageUrl, image.image_url, image.url, image.previewUrl, image.preview_url]
			.map(httpUrl)
			.find((candidate) => candidate !== undefined);
		if (url === undefined) return [];
		const statedType = asText(image.mimeType) ?? asText(image.mime_type);
		return [statedType === undefined ? { url, kind: 'image' } : { url, kind: 'image', statedType }];
	});
}

/**
 * The files of a finished task, each once: full pictures first, then the named outputs, then whatever else
 * of the metadata is an address. Previews count only when there is nothing better.
 *
 * @param echoes texts that the creation request carried, where they are known: addresses among them are no results
 */
export function outputsOf(task: Task, echoes: Iterable<string> = []): TaskOutput[] {
	const metadata = isObject(task.raw.metadata) ? task.raw.metadata : {};
	const type = task.type ?? '';
	const carried = new Set(echoes);
	const named = ['output_uri', 'output_url', 'audio_url', 'srt_url', 'json_url'];
	const seen = new Map<string, TaskOutput>();
	const outputs: TaskOutput[] = [];
	const add = (output: TaskOutput) => {
		const known = seen.get(output.url);
		// A second name of the same file can say more of it than the first one did.
		if (known?.kind === 'file') known.kind = output.kind;
		if (known !== undefined || carried.has(output.url)) return;
		seen.set(output.url, output);
		outputs.push(output);
	};
	const addField = (source: JsonObject, key: string) => {
		const values = Array.isArray(source[key]) ? (source[key] as unknown[]) : [source[key]];
		for (const value of values) {
			const url = httpUrl(value);
			if (url !== undefined) add({ url, kind: kindOf(key, url, type) });
		}
	};

	imagesOf(metadata).forEach(add);
	for (const key of named) {
		addField(metadata, key);
		addField(task.raw, key);
	}
	const others = Object.keys(metadata).filter(
		(key) => URL_KEY.test(key) && !named.includes(key) && !ECHO_KEY.test(key),
	);
	others.filter((key) => !PREVIEW_KEY.test(key)).forEach((key) => addField(metadata, key));
	if (outputs.length === 0) {
		others.filter((key) => PREVIEW_KEY.test(key)).forEach((key) => addField(metadata, key));
	}
	return outputs;
}
