/**
 * What kind of file some bytes are. Pure. Headers of file hosts are often generic or wrong (docs/service.md, "HTTP"), so the
 * first bytes decide where they can.
 */
import { type FileType, typeByExtension, typeByMimeType, typeOfBytes } from '../media/kinds';
import type { OutputKind } from '../service/outputs';
import { textOf } from './text';

/** What is known of a file besides its bytes. */
export interface AboutFile {
	kind: OutputKind;
	url: string;
	/** The Content-Type that its host states. */
	stated: string | undefined;
}

/** The type of a file by its first bytes (about 4 kB are plenty), or undefined where no signature is certain. */
export function signatureOf(head: Buffer): FileType | undefined {
	const found = typeOfBytes(head);
	return found?.certain === true ? found.type : textSignatureOf(textOf(head));
}

function textSignatureOf(text: string | undefined): FileType | undefined {
	if (text === undefined) return undefined;
	if (text.startsWith('WEBVTT')) return typeByExtension('vtt');
	if (/^\d+[ \t]*\r?\n[\d:]+[,.]\d+[ \t]*-->/.test(text)) return typeByExtension('srt');
	return /^<svg[\s>]/i.test(withoutProlog(text)) ? typeByExtension('svg') : undefined;
}

/** A document without what can precede its first element. */
export function withoutProlog(text: string): string {
	return text.replace(/^(?:\s|<\?[^>]*>|<!--[^]*?-->|<!doctype(?!\s+html)[^>]*>)+/i, '');
}

/** Whether a text begins like a JSON object or list. Words and times in brackets are none: transcripts begin with them. */
export function looksLikeJson(text: string): boolean {
	return /^(\{\s*["}]|\[\s*(["{[\]]|(true|false|null|-?\d[\d.eE+-]*)\s*(,|\]\s*$)))/.test(text);
}

/** The type by what may be the first frame of an audio file, but may be anything else. */
function guessOf(head: Buffer): FileType | undefined {
	return textOf(head) === undefined ? typeOfBytes(head)?.type : undefined;
}

/** Whether any signature, however weak, knows the bytes. */
export function isKnown(head: Buffer): boolean {
	return (signatureOf(head) ?? guessOf(head)) !== undefined;
}

/** A Content-Type without its parameters. */
export function mimeOnly(header: string | undefined): string {
	return (header ?? '').split(';')[0]?.trim().toLowerCase() ?? '';
}

function extensionOf(url: string): string {
	const name = new URL(url).pathname.split('/').pop() ?? '';
	return /\.([a-z0-9]{2,5})$/i.exec(name)?.[1]?.toLowerCase() ?? '';
}

/** The specific types that the header and the address name. */
export function namedTypes({ stated, url }: AboutFile): {
	byHeader: FileType | undefined;
	byUrl: FileType | undefined;
} {
	const mimeType = mimeOnly(stated);
	// Which most hosts state for anything they do not know.
	const byHeader = mimeType === 'text/plain' ? undefined : typeByMimeType(mimeType);
	return { byHeader, byUrl: typeByExtension(extensionOf(url)) };
}

/** Whether a type is a text type. */
export function isTextType(mimeType: string): boolean {
	return (
		/^text\/|[/+](json|xml)$|^application\/(x-subrip|xhtml\+xml)$/.test(mimeType) &&
		mimeType !== 'image/svg+xml'
	);
}

const UNKNOWN: FileType = { mimeType: 'application/octet-stream', extension: 'bin' };

/**
 * The type of a file: its bytes, then a specific header that fits what was asked for, then its address, then what its
 * bytes may be.
 */
export function fileTypeOf(head: Buffer, about: AboutFile): FileType {
	const { kind } = about;
	const { byHeader, byUrl } = namedTypes(about);
	const binary = kind === 'audio' || kind === 'image';
	const fitting =
		byHeader !== undefined && binary && isTextType(byHeader.mimeType) ? undefined : byHeader;
	const found = signatureOf(head) ?? fitting ?? byUrl ?? guessOf(head);
	if (found !== undefined) return found;
	const text = textOf(head);
	if (kind !== 'transcript' || text === undefined) return UNKNOWN;
	return typeByExtension(looksLikeJson(text) ? 'json' : 'txt') ?? UNKNOWN;
}
