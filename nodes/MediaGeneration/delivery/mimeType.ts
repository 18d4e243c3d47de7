/**
 * What kind of file some bytes are. Pure. Headers of file hosts are often generic or wrong (docs/service.md, "HTTP"), so the
 * first bytes decide where they can.
 */
import type { OutputKind } from '../service/outputs';
import { aacFrame, framed, mpegFrame } from './mpeg';
import { textOf } from './text';

export interface FileType {
	mimeType: string;
	extension: string;
}

/** What is known of a file besides its bytes. */
export interface AboutFile {
	kind: OutputKind;
	url: string;
	/** The Content-Type that its host states. */
	stated: string | undefined;
}

const type = (mimeType: string, extension: string): FileType => ({ mimeType, extension });

/** By MIME type: what is believed when a header states it. */
const BY_MIME_TYPE: Record<string, string> = {
	'audio/mpeg': 'mp3',
	'audio/mp3': 'mp3',
	'audio/wav': 'wav',
	'audio/x-wav': 'wav',
	'audio/wave': 'wav',
	'audio/ogg': 'ogg',
	'audio/opus': 'opus',
	'audio/flac': 'flac',
	'audio/x-flac': 'flac',
	'audio/mp4': 'm4a',
	'audio/x-m4a': 'm4a',
	'audio/aac': 'aac',
	'audio/webm': 'weba',
	'audio/aiff': 'aiff',
	'audio/x-aiff': 'aiff',
	'audio/amr': 'amr',
	'audio/basic': 'ulaw',
	'audio/l16': 'pcm',
	'audio/pcm': 'pcm',
	'image/png': 'png',
	'image/jpeg': 'jpg',
	'image/gif': 'gif',
	'image/webp': 'webp',
	'image/avif': 'avif',
	'image/bmp': 'bmp',
	'image/tiff': 'tiff',
	'image/svg+xml': 'svg',
	'video/mp4': 'mp4',
	'video/webm': 'webm',
	'application/pdf': 'pdf',
	'application/zip': 'zip',
	'application/json': 'json',
	'application/x-subrip': 'srt',
	'text/vtt': 'vtt',
	'text/srt': 'srt',
	'text/csv': 'csv',
};

const BY_EXTENSION: Record<string, FileType> = {
	mp3: type('audio/mpeg', 'mp3'),
	wav: type('audio/wav', 'wav'),
	ogg: type('audio/ogg', 'ogg'),
	opus: type('audio/opus', 'opus'),
	flac: type('audio/flac', 'flac'),
	m4a: type('audio/mp4', 'm4a'),
	aac: type('audio/aac', 'aac'),
	weba: type('audio/webm', 'weba'),
	pcm: type('audio/pcm', 'pcm'),
	ulaw: type('audio/basic', 'ulaw'),
	png: type('image/png', 'png'),
	jpg: type('image/jpeg', 'jpg'),
	jpeg: type('image/jpeg', 'jpg'),
	gif: type('image/gif', 'gif'),
	webp: type('image/webp', 'webp'),
	avif: type('image/avif', 'avif'),
	bmp: type('image/bmp', 'bmp'),
	tif: type('image/tiff', 'tiff'),
	tiff: type('image/tiff', 'tiff'),
	svg: type('image/svg+xml', 'svg'),
	srt: type('application/x-subrip', 'srt'),
	vtt: type('text/vtt', 'vtt'),
	json: type('application/json', 'json'),
	txt: type('text/plain', 'txt'),
	csv: type('text/csv', 'csv'),
	mp4: type('video/mp4', 'mp4'),
	webm: type('video/webm', 'webm'),
	zip: type('application/zip', 'zip'),
	pdf: type('application/pdf', 'pdf'),
};

/** The type of a file by its first bytes (about 4 kB are plenty), or undefined where no signature is certain. */
export function signatureOf(head: Buffer): FileType | undefined {
	const at = (offset: number, text: string) =>
		head.toString('latin1', offset, offset + text.length) === text;
	if (at(0, '\x89PNG\r\n\x1a\n')) return type('image/png', 'png');
	if (at(0, '\xff\xd8\xff')) return type('image/jpeg', 'jpg');
	if (at(0, 'GIF87a') || at(0, 'GIF89a')) return type('image/gif', 'gif');
	if (at(0, 'RIFF') && at(8, 'WEBP')) return type('image/webp', 'webp');
	if (at(0, 'RIFF') && at(8, 'WAVE')) return type('audio/wav', 'wav');
	if (at(0, 'ID3') && (head[3] ?? 0xff) < 0x10) return type('audio/mpeg', 'mp3');
	if (at(0, 'OggS')) return type('audio/ogg', head.includes('OpusHead') ? 'opus' : 'ogg');
	if (at(0, 'fLaC')) return type('audio/flac', 'flac');
	if (at(4, 'ftypavif') || at(4, 'ftypavis')) return type('image/avif', 'avif');
	if (at(4, 'ftypM4A')) return type('audio/mp4', 'm4a');
	if (at(4, 'ftyp')) return type('video/mp4', 'mp4');
	if (at(0, '\x1aE\xdf\xa3')) return type('video/webm', 'webm');
	if (at(0, 'BM') && head.length > 14 && head.readUInt32LE(6) === 0)
		return type('image/bmp', 'bmp');
	if (at(0, 'II*\0') || at(0, 'MM\0*')) return type('image/tiff', 'tiff');
	if (at(0, '%PDF-')) return type('application/pdf', 'pdf');
	if (at(0, 'PK\x03\x04')) return type('application/zip', 'zip');
	if (framed(head, aacFrame) === 'certain') return type('audio/aac', 'aac');
	if (framed(head, mpegFrame) === 'certain') return type('audio/mpeg', 'mp3');
	return textSignatureOf(textOf(head));
}

function textSignatureOf(text: string | undefined): FileType | undefined {
	if (text === undefined) return undefined;
	if (text.startsWith('WEBVTT')) return type('text/vtt', 'vtt');
	if (/^\d+[ \t]*\r?\n[\d:]+[,.]\d+[ \t]*-->/.test(text))
		return type('application/x-subrip', 'srt');
	if (/^<svg[\s>]/i.test(withoutProlog(text))) return type('image/svg+xml', 'svg');
	return undefined;
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
	if (textOf(head) !== undefined) return undefined;
	if (framed(head, aacFrame) === 'perhaps') return type('audio/aac', 'aac');
	return framed(head, mpegFrame) === 'perhaps' ? type('audio/mpeg', 'mp3') : undefined;
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

/** A host may state `constructor`, which every object has. */
function ownEntry<T>(table: Record<string, T>, name: string): T | undefined {
	return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** The specific types that the header and the address name. */
export function namedTypes({ stated, url }: AboutFile): { byHeader?: FileType; byUrl?: FileType } {
	const mimeType = mimeOnly(stated);
	const extension = ownEntry(BY_MIME_TYPE, mimeType);
	const byUrl = ownEntry(BY_EXTENSION, extensionOf(url));
	return {
		...(extension === undefined ? {} : { byHeader: type(mimeType, extension) }),
		...(byUrl === undefined ? {} : { byUrl }),
	};
}

/** Whether a type is a text type. */
export function isTextType(mimeType: string): boolean {
	return (
		/^text\/|[/+](json|xml)$|^application\/(x-subrip|xhtml\+xml)$/.test(mimeType) &&
		mimeType !== 'image/svg+xml'
	);
}

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
	if (kind !== 'transcript' || text === undefined) return type('application/octet-stream', 'bin');
	return looksLikeJson(text) ? type('application/json', 'json') : type('text/plain', 'txt');
}
