/** Finds the files that a finished task offers. Source: docs/service.md, "Resources" (the task's metadata) and "Shapes". */
import { isObject, trimmedText, urlOf, type JsonObject } from '../base/json';
import { extensionIn, mediaOf, typeByExtension } from '../audio/kinds';
import type { Task } from './task';
import { MAX_LEVELS, MAX_LOOKED_AT } from '../base/bounds';

export type OutputKind = 'audio' | 'image' | 'transcript' | 'file';

export interface TaskOutput {
	/** As the service names it: it can be relative to the Base URL, or contain the file ("data:"). */
	url: string;
	kind: OutputKind;
}

const URL_KEY = /((^|_)ur[il]s?|U(r[il]|R[IL])[sS]?)$/;
/** Fields with smaller copies of a result. */
const PREVIEW_KEY = /preview|thumb|poster|waveform/i;
/** A name with such a word refers to what the request carried, or to a page. */
const OTHER_WORD =
	/^(receive|callback|webhook|references?|inputs?|sources?|init|uploads?|requests?|prompts?|page|share|status|poll|cancel|dashboard)$/i;
/** Best first. */
const NAMED = ['output_uri', 'output_url', 'audio_url', 'all_audio_urls', 'srt_url', 'json_url'];

function listOf(value: unknown): unknown[] {
	if (Array.isArray(value)) return value.slice(0, MAX_LOOKED_AT);
	return value === undefined ? [] : [value];
}

/** Stands for the host of a relative address, of which only the path is used. */
const NO_HOST = 'https://service.invalid/';

const extensionOf = (url: string) => extensionIn(urlOf(url, NO_HOST)?.pathname ?? '');

export const isDataUrl = (url: string): boolean => /^data:/i.test(url);

/** Finds an address. Words such as "pending" would be relative ones, too, so one without a leading slash needs the extension of a file. */
function addressIn(value: unknown): string | undefined {
	const text = trimmedText(value) ?? '';
	if (isDataUrl(text)) return text.includes(',') ? text : undefined;
	if (/^https?:\/\//i.test(text)) return URL.canParse(text) ? text : undefined;
	if (/\s/.test(text) || /^[a-z][a-z\d+.-]*:/i.test(text)) return undefined;
	const isRelative =
		/^(\.{0,2}|\/)\/[^/]/.test(text) || typeByExtension(extensionOf(text)) !== undefined;
	return isRelative && URL.canParse(text, NO_HOST) ? text : undefined;
}

/** Makes all addresses absolute, each file once. @param baseUrl undefined if no service is known: relative ones then stay as they are */
export function resolved(
	outputs: readonly TaskOutput[],
	baseUrl: string | undefined,
): TaskOutput[] {
	const files = outputs.map((output): [string, TaskOutput] => {
		const isWhole = /^(https?|data):/i.test(output.url) || baseUrl === undefined;
		const url = isWhole ? output.url : (urlOf(output.url, `${baseUrl}/`)?.href ?? output.url);
		return [url, { ...output, url }];
	});
	return [...new Map(files).values()];
}

function outputKindOf(name: string, url: string, taskType: string): OutputKind {
	const [, stated] = /^data:(audio|image)\//i.exec(url) ?? [];
	const extension = extensionOf(url);
	const media = stated?.toLowerCase() ?? mediaOf(extension);
	if (/^(srt|vtt|json|transcript|subtitle|caption)/i.test(name) || media === 'captions')
		return 'transcript';
	if (media === 'image' || media === 'audio') return media;
	if (/video/i.test(name) || typeByExtension(extension) !== undefined) return 'file';
	if (/to.?text|transcri/i.test(taskType) && !/audio|image/i.test(name)) return 'transcript';
	if (/image/i.test(taskType) || /image/i.test(name)) return 'image';
	if (/audio/i.test(name) || /sound|speech|audio|voice|music/i.test(taskType)) return 'audio';
	return 'file';
}

/** Returns the full picture of an image, or its preview if it has no full one. */
function imageIn(entry: unknown): string | undefined {
	const image = isObject(entry) ? entry : { url: entry };
	return [image.imageUrl, image.image_url, image.url, image.previewUrl, image.preview_url]
		.map(addressIn)
		.find((url) => url !== undefined);
}

interface FieldHolder {
	name: string;
	fields: JsonObject;
	depth: number;
}

function isResultKey(key: string): boolean {
	// A stream plays while the task runs, and is gone soon after.
	if (/stream/i.test(key)) return false;
	return !key.split(/[^a-zA-Z]+|(?<=[a-z])(?=[A-Z])/).some((word) => OTHER_WORD.test(word));
}

const namesOf = (fields: JsonObject) => Object.keys(fields).slice(0, MAX_LOOKED_AT);

/** Lists the metadata and the objects in it, the deeper ones last. */
function holdersIn(metadata: JsonObject): FieldHolder[] {
	const holders: FieldHolder[] = [{ name: '', fields: metadata, depth: 1 }];
	const isSearched = (name: string) =>
		name !== 'result_images' && isResultKey(name) && !PREVIEW_KEY.test(name);
	for (const { fields, depth } of holders)
		for (const name of depth < MAX_LEVELS ? namesOf(fields).filter(isSearched) : [])
			for (const entry of listOf(fields[name]))
				if (isObject(entry)) holders.push({ name, fields: entry, depth: depth + 1 });
	return holders;
}

/**
 * Lists the files of a finished task, each once: full pictures first, then the named outputs, then all other addresses in the metadata,
 * the deeper ones last. Previews count only if there is nothing better.
 * @param echoes texts of the creation request, if known: addresses among them are not results, whatever query they return with
 */
export function outputsOf({ raw, type = '' }: Task, echoes: Iterable<string> = []): TaskOutput[] {
	const carried = new Set(echoes);
	const isEcho = (url: string) => carried.has(url) || carried.has(url.split('?', 1)[0] ?? '');
	let left = MAX_LOOKED_AT;
	const best = new Map<string, TaskOutput>();
	const previews = new Map<string, TaskOutput>();
	const add = (to: typeof best, file: TaskOutput) => {
		// A second name of the same file can say more about it than the first.
		const known = to.get(file.url)?.kind ?? 'file';
		if (known === 'file' && !isEcho(file.url)) to.set(file.url, file);
	};
	const addField = (to: typeof best, { name, fields }: FieldHolder, key: string) => {
		// A field that is just "url" takes the name of the object that holds it.
		const called = /^ur[il]s?$/i.test(key) ? name : key;
		for (const value of listOf(fields[key])) {
			const url = (left -= 1) >= 0 ? addressIn(value) : undefined;
			if (url !== undefined) add(to, { url, kind: outputKindOf(called, url, type) });
		}
	};
	const addNamed = (holder: FieldHolder) => {
		for (const url of listOf(holder.fields.result_images).map(imageIn))
			if (url !== undefined) add(best, { url, kind: 'image' });
		for (const key of NAMED) addField(best, holder, key);
	};
	const holders = holdersIn(isObject(raw.metadata) ? raw.metadata : {});
	const [top, ...others] = holders;
	[...(top ? [top] : []), { name: '', fields: raw, depth: 0 }, ...others].forEach(addNamed);
	for (const holder of holders)
		for (const key of namesOf(holder.fields))
			if (URL_KEY.test(key) && isResultKey(key))
				addField(PREVIEW_KEY.test(key) ? previews : best, holder, key);
	return [...(best.size > 0 ? best : previews).values()];
}
