/**
 * What kind of file some bytes are. Pure. Headers of file hosts are often generic or wrong (service-facts, "Time and size"),
 * so the first bytes decide where they can.
 */
import type { OutputKind } from '../service/outputs';

export interface FileType {
	mimeType: string;
	extension: string;
}

const type = (mimeType: string, extension: string): FileType => ({ mimeType, extension });

/** Known by MIME type: what headers may state and be believed. */
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
};

const BY_EXTENSION: Record<string, FileType> = {
	mp3: type('audio/mpeg', 'mp3'),
	wav: type('audio/wav', 'wav'),
	ogg: type('audio/ogg', 'ogg'),
	opus: type('audio/opus', 'opus'),
	flac: type('audio/flac', 'flac'),
	m4a: type('audio/mp4', 'm4a'),
	aac: type('audio/aac', 'aac'),
	png: type('image/png', 'png'),
	jpg: type('image/jpeg', 'jpg'),
	jpeg: type('image/jpeg', 'jpg'),
	gif: type('image/gif', 'gif'),
	webp: type('image/webp', 'webp'),
	avif: type('image/avif', 'avif'),
	srt: type('application/x-subrip', 'srt'),
	vtt: type('text/vtt', 'vtt'),
	json: type('application/json', 'json'),
	txt: type('text/plain', 'txt'),
	mp4: type('video/mp4', 'mp4'),
	zip: type('application/zip', 'zip'),
	pdf: type('application/pdf', 'pdf'),
};

/** An MPEG audio frame: sync word, a valid version, layer, bit rate and sample rate. */
function isMpegFrame(head: Buffer): boolean {
	if (head.length < 3 || head[0] !== 0xff) return false;
	const [, second = 0, third = 0] = head;
	const layer = (second >> 1) & 3;
	return (
		(second & 0xe0) === 0xe0 &&
		((second >> 3) & 3) !== 1 &&
		layer !== 0 &&
		third >> 4 !== 15 &&
		((third >> 2) & 3) !== 3
	);
}

function isAdts(head: Buffer): boolean {
	return head.length > 1 && head[0] === 0xff && ((head[1] ?? 0) & 0xf6) === 0xf0;
}

/** The type of a file by its first bytes (about 4 kB are plenty), or undefined. */
export function sniff(head: Buffer): FileType | undefined {
	const at = (offset: number, text: string) =>
		head.length >= offset + text.length &&
		head.toString('latin1', offset, offset + text.length) === text;
	if (at(0, '\x89PNG\r\n\x1a\n')) return type('image/png', 'png');
	if (at(0, '\xff\xd8\xff')) return type('image/jpeg', 'jpg');
	if (at(0, 'GIF87a') || at(0, 'GIF89a')) return type('image/gif', 'gif');
	if (at(0, 'RIFF') && at(8, 'WEBP')) return type('image/webp', 'webp');
	if (at(0, 'RIFF') && at(8, 'WAVE')) return type('audio/wav', 'wav');
	if (at(0, 'ID3')) return type('audio/mpeg', 'mp3');
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
	if (isAdts(head)) return type('audio/aac', 'aac');
	if (isMpegFrame(head)) return type('audio/mpeg', 'mp3');
	const text = head
		.toString('utf8', 0, 200)
		.replace(/^\ufeff/, '')
		.trimStart();
	if (text.startsWith('WEBVTT')) return type('text/vtt', 'vtt');
	if (/^\d+\s*\r?\n\d\d:\d\d:\d\d[,.]\d{3} -->/.test(text))
		return type('application/x-subrip', 'srt');
	if (/^(<\?xml[^>]*>\s*)?<svg[\s>]/i.test(text)) return type('image/svg+xml', 'svg');
	return undefined;
}

/** Whether the bytes begin like a web page. */
export function looksLikeHtml(head: Buffer): boolean {
	const text = head
		.toString('utf8', 0, 512)
		.replace(/^\ufeff/, '')
		.trimStart();
	return /^(<!--[\s\S]*?-->\s*)?<(!doctype\s+html|html|head|body)\b/i.test(text);
}

/** Whether the bytes begin like a JSON object or list. */
export function looksLikeJson(head: Buffer): boolean {
	const text = head
		.toString('utf8', 0, 512)
		.replace(/^\ufeff/, '')
		.trimStart();
	return /^(\{\s*("|\})|\[\s*("|\{|\[|\]|\d|-|t|f|n))/.test(text);
}

function mimeOnly(header: string | undefined): string {
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

/** The type of a file: its bytes, then a specific header that fits what was asked for, then its address, then its kind. */
export function fileTypeOf(
	head: Buffer,
	header: string | undefined,
	url: string,
	kind: OutputKind,
): FileType {
	const sniffed = sniff(head);
	if (sniffed !== undefined) return sniffed;
	const stated = mimeOnly(header);
	const byHeader = ownEntry(BY_MIME_TYPE, stated);
	const byUrl = ownEntry(BY_EXTENSION, extensionOf(url));
	if (
		byHeader !== undefined &&
		!(stated === 'application/json' && kind !== 'transcript' && kind !== 'file')
	) {
		return type(stated, byHeader);
	}
	if (byUrl !== undefined) return byUrl;
	if (kind === 'transcript')
		return looksLikeJson(head) ? type('application/json', 'json') : type('text/plain', 'txt');
	return type('application/octet-stream', 'bin');
}
