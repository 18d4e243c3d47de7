/**
 * Decides from its first bytes what type a file has, or why it is no result although it came with HTTP 200. Headers of file hosts are
 * often generic or wrong (docs/service.md, "HTTP"), so they count only where the bytes say nothing.
 */
import { typeOfBytes } from '../audio/scan';
import * as types from '../base/fileTypes';
import { quote } from '../base/words';
import { isObject, parseJson } from '../base/json';
import { urlOf } from '../base/url';
import { isDataUrl } from '../answers/outputs';
import type { WantedFile } from './outputFile';

/** What is known of a file besides its bytes. `stated` is the Content-Type of the host's answer. */
type AboutFile = Pick<WantedFile, 'url' | 'kind' | 'format'> & { stated: string | undefined };

/** The beginning of markup, even with control characters or in an encoding other than UTF-8. */
const MARKUP =
	/^[\0-\x20]*<(?:!doctype|!--|\?xml|html|head|body|title|script|error|center|div|h1|p)\b/i;
/** No text has these. White space, and the escape character of some East Asian encodings, are left out. */
const CONTROL = /[\0-\x08\x0e-\x1a\x1c-\x1f\x7f]/;

/** Reads the text that a file begins with, without a byte-order mark and leading spaces; undefined if it is neither UTF-8 nor markup. */
function leadingText(head: Buffer): string | undefined {
	// The head can end within a character, which then becomes a single replacement character.
	const text = head.toString('utf8', 0, types.FILE_HEAD_BYTES).replace(/\ufffd$/, '');
	if (MARKUP.test(text)) return text.replace(/[\0-\x1f\x7f]+/g, ' ').trimStart();
	return text.includes('\ufffd') || CONTROL.test(text) ? undefined : text.trimStart();
}

/** Transcripts can begin with words and times in brackets, which are no JSON. */
function looksLikeJson(text: string): boolean {
	return /^(\{\s*["}]|\[\s*(["{[\]]|(true|false|null|-?\d[\d.eE+-]*)\s*(,|\]\s*$)))/.test(text);
}

/** Most hosts state text/plain for anything they do not know. */
const statedType = ({ stated = '' }: AboutFile) =>
	stated.split(';', 1).join().trim().toLowerCase().replace('text/plain', '');

const TEXT_TYPE = /^text\/|[/+](json|xml)$|^application\/x-subrip$/;
const isTextType = (mimeType: string) => TEXT_TYPE.test(mimeType) && mimeType !== 'image/svg+xml';
const isSoundOrImage = ({ kind }: AboutFile) => kind === 'audio' || kind === 'image';

/** Returns the types that the request, the address and the host name, if they fit. */
function namedTypes(about: AboutFile) {
	const { kind, format, url } = about;
	const path = isDataUrl(url) ? '' : urlOf(url)?.pathname;
	const fitting = (type: types.FileType | undefined) =>
		isSoundOrImage(about) && isTextType(type?.mimeType ?? '') ? undefined : type;
	return {
		byFormat: kind === 'audio' && format !== undefined ? types.typeOfFormat(format) : undefined,
		byUrl: fitting(types.typeByExtension(types.extensionIn(path ?? ''))),
		byHeader: fitting(types.typeByMimeType(statedType(about))),
	};
}

const UNKNOWN: types.FileType = { mimeType: 'application/octet-stream', extension: 'bin' };

/** These bytes begin a tag or a container that sound of another type has, too: only the address or the host tells it. */
const SHARED: ReadonlyArray<[mark: RegExp, extension: string]> = [
	[/^ID3/, 'aac'],
	[/^[^]{4}ftyp/, 'm4a'],
	[/^\x1aE\xdf\xa3/, 'weba'],
];

/** Decides by the first bytes, a raw format that was asked for, the address, the header, and at last any format asked for. */
export function fileTypeOf(head: Buffer, about: AboutFile): types.FileType {
	const { byFormat, byUrl, byHeader } = namedTypes(about);
	const signature = typeOfBytes(head);
	const begin = head.toString('latin1', 0, 8);
	const [, other] = SHARED.find(([mark]) => mark.test(begin)) ?? [];
	if (signature !== undefined)
		return [byUrl, byHeader].find((named) => named?.extension === other) ?? signature;
	// Any other format would show in the bytes.
	if (byFormat !== undefined && types.isRaw(byFormat)) return byFormat;
	const found = byUrl ?? byHeader ?? byFormat;
	if (found !== undefined) return found;
	const text = leadingText(head);
	if (about.kind !== 'transcript' || text === undefined) return UNKNOWN;
	return types.typeByExtension(looksLikeJson(text) ? 'json' : 'txt') ?? UNKNOWN;
}

/** The beginning of an error: before any list or object within it, a field says so. Its end can lie beyond what is read of a file. */
const ERROR =
	/^(?:\s*[[{])*[^{}[\]]*"(success"\s*:\s*false|(errors?|error_?message)"\s*:\s*(?!null|false|0|""|[\s\]}]))/i;
/** Names of what stands beside words in an error. A transcript has a field of another name. */
const BESIDE_WORDS =
	/^(success|(status)?_?code|status|type|title|path|instance|time(stamp)?|(request|trace|host)_?id)$/i;

/** Returns whether these are words about something, such as `{"detail":"Not Found"}`, and nothing else. */
function isWordsAlone(text: string): boolean {
	const body = parseJson(text);
	if (!isObject(body)) return false;
	const given = Object.keys(body).filter((name) => body[name] !== null && !BESIDE_WORDS.test(name));
	return given.length > 0 && given.every((name) => /^(detail|message|msg|reason)$/i.test(name));
}

/** Returns whether a text is no file of this type. @param expected undefined if no type is known */
function isMessage(text: string, expected: types.FileType | undefined): boolean {
	if (text.startsWith('<')) return true;
	if (looksLikeJson(text)) return ERROR.test(text) || isWordsAlone(text);
	if (/^(srt|vtt)$/.test(expected?.extension ?? '')) return !/-->|^WEBVTT/.test(text);
	return expected?.extension === 'json';
}

/** Returns why these can't be the first bytes of the file, completing "could not be downloaded: ..."; undefined if they can. */
export function problemWith(head: Buffer, about: AboutFile): string | undefined {
	if (head.length === 0 || typeOfBytes(head) !== undefined) return undefined;
	const { byUrl, byHeader } = namedTypes(about);
	const isOther = (type?: types.FileType) => type !== undefined && !isTextType(type.mimeType);
	const isMedia =
		isSoundOrImage(about) || (about.kind === 'file' && (isOther(byUrl) || isOther(byHeader)));
	const text = leadingText(head);
	if (text !== undefined && (isMedia || isMessage(text, byUrl ?? byHeader))) {
		const what = text.startsWith('<') ? 'a web page' : 'a text';
		return `the file host sent ${what} instead of the file: ${quote(text, 100) ?? ''}`;
	}
	const stated = statedType(about);
	return isMedia && isTextType(stated)
		? `the file host sent ${stated} instead of the file`
		: undefined;
}
