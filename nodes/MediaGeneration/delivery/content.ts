/** What a file host sends with HTTP 200 though it is not a result (docs/service.md, "HTTP"). Pure. Media are not text. */
import { quote } from '../service/failures';
import { ANSWER, foreignJson } from '../service/bounded';
import { isObject } from '../service/json';
import {
	isKnown,
	isTextType,
	looksLikeJson,
	mimeOnly,
	namedTypes,
	textOf,
	withoutProlog,
	type AboutFile,
} from './mimeType';

/** What an error object has. A transcript has a list of words or segments besides. */
const ERROR_KEY = /^(errors?|error_?(message|code)|message|details?|reasons?|code)$/i;
/** How markup begins, also where control characters make it look like something else than text. */
const MARKUP =
	/^[\0-\x20]*<(?:!doctype|!--|\?xml|html|head|body|title|script|error|center|div|h1|p)\b/i;

/** Whether only media (or another format that is not text) can be what was asked for. */
function isMedia(about: AboutFile): boolean {
	if (about.kind === 'audio' || about.kind === 'image') return true;
	if (about.kind === 'transcript') return false;
	const { byHeader, byUrl } = namedTypes(about);
	return [byHeader, byUrl].some((named) => named !== undefined && !isTextType(named.mimeType));
}

function nameOf(text: string): string {
	const root = withoutProlog(text);
	const isHtml = /^<(!doctype\s+html|html)\b/i.test(root);
	if (!isHtml && (/^<\?xml/i.test(text) || /^<error[\s>]/i.test(root))) return 'an XML message';
	if (text.startsWith('<')) return 'a web page';
	return looksLikeJson(text) ? 'a JSON message' : 'a text';
}

function inWords(text: string): string {
	const name = nameOf(text);
	const words = quote(text, 100);
	const said = name === 'a web page' || words === undefined ? '' : `: ${words}`;
	return `the file host sent ${name} instead of the file${said}`;
}

function isErrorObject(value: unknown): boolean {
	// One level: recursion would follow a foreign text as deep as it likes.
	if (Array.isArray(value))
		return value.length > 0 && value.every((entry) => isObject(entry) && isErrorObject(entry));
	if (!isObject(value)) return false;
	if (value.success === false) return true;
	const entries = Object.entries(value);
	const hasList = entries.some(([key, entry]) => Array.isArray(entry) && !ERROR_KEY.test(key));
	return !hasList && entries.some(([key, entry]) => ERROR_KEY.test(key) && entry !== null);
}

function isOtherText(text: string, about: AboutFile): boolean {
	const { byHeader, byUrl } = namedTypes(about);
	const { extension = '' } = byUrl ?? byHeader ?? {};
	if (!['srt', 'vtt', 'json'].includes(extension) || looksLikeJson(text)) return false;
	return extension === 'json' || !/-->|^WEBVTT/.test(text);
}

function markupOf(head: Buffer): string | undefined {
	const text = head.toString('latin1');
	return MARKUP.test(text) ? text.replace(/[\0-\x1f\x7f]+/g, ' ').trimStart() : undefined;
}

/** Why the beginning of a file shows that it is none, completing "could not be downloaded: ..."; undefined where it may be one. */
export function problemWith(head: Buffer, about: AboutFile): string | undefined {
	const text = textOf(head) ?? markupOf(head);
	if (isMedia(about)) {
		if (isKnown(head)) return undefined;
		if (text !== undefined) return inWords(text);
		const stated = mimeOnly(about.stated);
		return isTextType(stated) ? `the file host sent ${stated} instead of the file` : undefined;
	}
	if (text === undefined) return undefined;
	const isPage = ['a web page', 'an XML message'].includes(nameOf(text));
	return isPage || isErrorObject(foreignJson(text, ANSWER)) || isOtherText(text, about)
		? inWords(text)
		: undefined;
}
