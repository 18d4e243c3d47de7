/** Finds the files that a finished task offers. Source: docs/service.md, "Resources" (the task's metadata) and "Shapes". */
import { trimmedText, type JsonObject } from '../base/json';
import { urlOf } from '../base/url';
import { extensionIn, mediaOf, typeByExtension } from '../base/fileTypes';
import type { Task } from './task';
import { fromOutside, type Found } from './walk';
import { MAX_LEVELS, MAX_LOOKED_AT } from '../base/bounds';

export type OutputKind = 'audio' | 'image' | 'transcript' | 'file';

export interface TaskOutput {
	/** As the service names it: it can be relative to the Base URL, or contain the file ("data:"). */
	url: string;
	kind: OutputKind;
}

const URL_NAME = /((^|_)ur[il]s?|U(r[il]|R[IL])[sS]?)$/;
/** Names of results, also of what a sound was taken apart into. Under another name, an address needs the extension of a file or a name such as `page_url`. */
const RESULT_NAME =
	/output|result|audio|image|video|file|srt|json|transcript|caption|clip|song|music|sound|media|download|(?<!in)voice|vocal|speech|background|instrumental|stem/i;
/** Fields with smaller copies of a result. */
const PREVIEW_NAME = /preview|thumb|poster|waveform/i;
/** A name with such a word refers to what the request carried, to a page, or to a stream, which is gone soon after the task has ended. */
const OTHER_WORD =
	/^(receive|callback|webhook|ref(erence)?s?|inputs?|sources?|init|uploads?|requests?|prompts?|param(eter)?s?|page|share|status|poll|cancel|dashboard|task|self|api|docs?|avatar|logo|icon|user|author|profile|model|streams?)$/i;
/** Names of what people wrote, which can be an address. */
const WORDS_NAME = /^(text|title|lyrics|name|description|message|error|error_message)$/i;

/** Returns whether tasks of a type make a text of a sound. A speech can come with a transcript. */
export const makesText = (taskType: string): boolean =>
	/^(?!.*(tts|to.?speech|dub)).*(to.?text|transcri)/i.test(taskType);

/** Types of tasks whose `original` is what they were given. That of an image can be its full size. */
const OF_SOUND = /tts|speech|voice|sound|audio|music|dubbing|transcri/i;

function isResultName(name: string, taskType: string): boolean {
	const own = name.replace(/^(task|model)_?(?=result|output)/i, '');
	const words = own.split(/[^a-zA-Z]+|(?<=[a-z])(?=[A-Z])/);
	const isOther = (word: string) =>
		OTHER_WORD.test(word) || (/^original$/i.test(word) && OF_SOUND.test(taskType));
	return !WORDS_NAME.test(name) && !words.some(isOther);
}

/** Longest address, in characters. Web servers take hardly more, and parsing a longer one would take long. */
const MAX_ADDRESS = 8_000;

/** Stands for the host of a relative address, of which only the path is used. */
const NO_HOST = 'https://service.invalid/';

const extensionOf = (url: string) => extensionIn(urlOf(url, NO_HOST)?.pathname ?? '');

export const isDataUrl = (url: string): boolean => /^data:/i.test(url);

/** Whether a text is the address of a file. Words such as "pending" would be relative ones, too, so one without a leading slash needs the extension of a file. */
function isFileAddress(text: string, name: string): boolean {
	const isNamed = URL_NAME.test(name);
	if (text === '') return false;
	if (isDataUrl(text)) return text.includes(',');
	const isAbsolute = /^https?:\/\//i.test(text);
	// Most texts are no addresses at all.
	if (text.length > MAX_ADDRESS || !(isAbsolute || isNamed)) return false;
	const hasExtension = typeByExtension(extensionOf(text)) !== undefined;
	if (isAbsolute) return URL.canParse(text) && (hasExtension || isNamed || RESULT_NAME.test(name));
	if (/\s/.test(text) || /^[a-z][a-z\d+.-]*:/i.test(text)) return false;
	return (/^(\.{0,2}|\/)\/[^/]/.test(text) || hasExtension) && URL.canParse(text, NO_HOST);
}

/** Extensions of what comes beside a sound or a picture, such as its lyrics, a playlist or a license. */
const NO_MEDIA = /^(lrc|m3u8?|ass|csv|md|xml|pdf|zip)$/;

/** Longest name of a field, in characters. Taking a longer one apart would take long. */
const MAX_NAME = 200;

/** Extensions of pages, or none. */
const PAGE = /^(html?|php|aspx?|jsp)?$/;

/** Whether an address is surely no page, such as that of a license, a player or the answer itself. */
const isSurelyFile = (url: string, name: string) =>
	isDataUrl(url) || RESULT_NAME.test(name) || !PAGE.test(extensionOf(url));

/** Makes all addresses absolute, each file once. @param baseUrl undefined if no service is known: relative ones then stay as they are */
export function resolved(
	outputs: readonly TaskOutput[],
	baseUrl: string | undefined,
): TaskOutput[] {
	const files = new Map<string, TaskOutput>();
	for (const output of outputs) {
		const isFinal = /^(https?|data):/i.test(output.url) || baseUrl === undefined;
		const url = isFinal ? output.url : (urlOf(output.url, `${baseUrl}/`)?.href ?? output.url);
		const file = fileOf(url);
		if (!files.has(file)) files.set(file, { ...output, url });
	}
	return [...files.values()];
}

/** Parameters with which stores sign an address. */
const SIGNING =
	/^(x-(amz|goog|oss|cos)-.*|(aws|google|oss)?access(key)?id|sign(ature)?|sig|expires|policy|key-pair-id|auth_?key|token(_path)?|response-.*|s[eprtv]|sk[etv]|sk[ot]id)$/i;

/** Two addresses that differ only in their signature are one file. Where one path serves all files, a token can name the file. */
function fileOf(url: string): string {
	const parsed = isDataUrl(url) ? undefined : urlOf(url, NO_HOST);
	if (parsed === undefined) return url;
	if (url.includes('?')) {
		const naming = PAGE.test(extensionOf(url)) ? 'token' : '';
		const kept = [...parsed.searchParams].filter(
			([name]) => name === naming || !SIGNING.test(name),
		);
		parsed.search = new URLSearchParams(kept).toString();
	}
	parsed.hash = '';
	return parsed.href;
}

function outputKindOf(name: string, url: string, taskType: string): OutputKind {
	const [, stated] = /^data:(audio|image)\//i.exec(url.slice(0, 20)) ?? [];
	const extension = isDataUrl(url) ? '' : extensionOf(url);
	const media = stated?.toLowerCase() ?? mediaOf(extension);
	if (media === 'image' || media === 'audio') return media;
	if (media === 'video') return 'file';
	const isCaption = media === 'transcript' && !/image/i.test(taskType);
	if (/^(srt|vtt|json|transcript|subtitle|caption)/i.test(name) || isCaption) return 'transcript';
	if (/video/i.test(name)) return 'file';
	if (makesText(taskType) && !/audio|image/i.test(name)) return 'transcript';
	if (typeByExtension(extension) !== undefined || NO_MEDIA.test(extension)) return 'file';
	if (/image/i.test(taskType) || /image/i.test(name)) return 'image';
	if (/audio/i.test(name) || /sound|speech|audio|voice|music|tts/i.test(taskType)) return 'audio';
	return 'file';
}

/** The field that names a value: a bare "url" has the name of what holds it. */
const nameOf = ({ name, holder }: Found): string =>
	(/^(ur[il]s?|href|src)$/i.test(name) && holder && nameOf(holder)) || name;

const isPreviewAt = ({ name, holder }: Found): boolean =>
	PREVIEW_NAME.test(name) || (holder !== undefined && isPreviewAt(holder));

interface FoundFile extends TaskOutput {
	name: string;
	/** Whether it counts only if there is nothing better. */
	isPreview: boolean;
	/** Whether it is surely no page. */
	isSure: boolean;
}

/** Puts together what two names of one file say: the second can say more, and pictures stand under names for sound, too. */
function ofBothNames(one: FoundFile, other: FoundFile): FoundFile {
	const saysMore = one.kind === 'file' || other.kind === 'image' || !one.isSure;
	const { kind, name } = saysMore ? other : one;
	const isPreview = one.isPreview && other.isPreview;
	return { url: one.url, kind, name, isPreview, isSure: one.isSure || other.isSure };
}

/** Leaves out previews and what may be a page, where there is something better. A transcript is not better than what may be a sound. */
function bestOf(all: readonly FoundFile[], type: string): readonly FoundFile[] {
	const originals = all.filter(({ isPreview }) => !isPreview);
	const sure = originals.filter(({ isSure }) => isSure);
	const isEnough = makesText(type) || sure.some(({ kind }) => kind !== 'transcript');
	if (isEnough && sure.length > 0) return sure;
	return originals.length > 0 ? originals : all;
}

/** For sorting: what the task's type promises comes first, and transcripts last; before others what is called a result. */
function rankOf({ kind, name }: FoundFile, type: string): number {
	const promised = /image/i.test(type) ? 'image' : 'audio';
	const isCalledResult = /output|result|audio|image/i.test(name);
	return (kind === promised ? 0 : kind === 'transcript' ? 4 : 2) + (isCalledResult ? 0 : 1);
}

/**
 * Lists the files of a finished task, each once. Previews count only if there is nothing better.
 * @param requestAddresses are no results, whatever query they return with
 */
export function outputsOf(
	{ raw, type = '' }: Task,
	requestAddresses: Iterable<string> = [],
): TaskOutput[] {
	const carried = new Set(requestAddresses);
	const found = new Map<string, FoundFile>();
	const fieldsOf = (object: JsonObject) =>
		Object.entries(object)
			.slice(0, MAX_LOOKED_AT)
			.filter(([name]) => name.length <= MAX_NAME && isResultName(name, type));
	const within = { maxDepth: 2 * MAX_LEVELS, most: MAX_LOOKED_AT, unpacks: true };
	// Of a file with several names, the outermost counts.
	for (const place of fromOutside(raw, { ...within, fieldsOf })) {
		const name = nameOf(place);
		const url = trimmedText(place.value) ?? '';
		if (carried.has(url) || carried.has(url.split('?', 1)[0] ?? '')) continue;
		if (!isFileAddress(url, name)) continue;
		const [isPreview, isSure] = [isPreviewAt(place), isSurelyFile(url, name)];
		const file = { url, name, kind: outputKindOf(name, url, type), isPreview, isSure };
		const id = fileOf(url);
		const known = found.get(id);
		found.set(id, known === undefined ? file : ofBothNames(known, file));
	}
	const best = bestOf([...found.values()], type);
	// Beside a transcript, a sound is what was transcribed.
	const isText = makesText(type) && best.some(({ kind }) => kind === 'transcript');
	return best
		.filter(({ kind }) => !isText || kind === 'transcript')
		.sort((one, other) => rankOf(one, type) - rankOf(other, type))
		.map(({ url, kind }) => ({ url, kind }));
}
