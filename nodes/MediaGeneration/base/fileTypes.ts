/** Types of files: one table of their extensions, MIME types and first bytes. */
export interface FileType {
	mimeType: string;
	extension: string;
}

/** What may stand before the root of an XML file that is no page. */
const PROLOG = /(?:\s|<\?[^>]*>|<!--(?:(?!-->)[^])*-->|<!doctype(?!\s+html)[^>]*>)*/.source;
/** Texts may begin with a byte-order mark. */
const textMark = (pattern: string) => new RegExp(`^(?:\xef\xbb\xbf)?${pattern}`, 'i');

/** Files get the first extension and the first MIME type of a row. The mark shows how such a file begins, as Latin-1. */
const FILE_TYPES: ReadonlyArray<[extensions: string, mimeTypes: string, mark?: RegExp]> = [
	['mp3', 'audio/mpeg audio/mp3', /^ID3[\0-\x0f]/],
	['wav', 'audio/wav audio/x-wav audio/wave', /^RIFF[^]{4}WAVE/],
	['opus', 'audio/ogg audio/opus', /^OggS[^]*OpusHead/],
	['ogg', 'audio/ogg', /^OggS/],
	['flac', 'audio/flac audio/x-flac', /^fLaC/],
	['m4a', 'audio/mp4 audio/x-m4a', /^[^]{4}ftypM4A/],
	['aac', 'audio/aac'],
	['weba', 'audio/webm'],
	['ulaw mulaw', 'audio/basic'],
	['alaw', 'audio/x-alaw-basic'],
	['pcm', 'audio/pcm audio/l16'],
	['png', 'image/png', /^\x89PNG\r\n\x1a\n/],
	['jpg jpeg', 'image/jpeg', /^\xff\xd8\xff/],
	['gif', 'image/gif', /^GIF8[79]a/],
	['webp', 'image/webp', /^RIFF[^]{4}WEBP/],
	['avif', 'image/avif', /^[^]{4}ftypavi[fs]/],
	['bmp', 'image/bmp', /^BM[^]{4}\0{4}[^]{5}/],
	['tiff tif', 'image/tiff', /^(II\*\0|MM\0\*)/],
	['svg', 'image/svg+xml', textMark(`${PROLOG}<svg[\\s>]`)],
	['heic heif', 'image/heic image/heif', /^[^]{4}ftyp(hei[cx]|mif1)/],
	['mov', 'video/quicktime', /^[^]{4}ftypqt/],
	['mp4', 'video/mp4', /^[^]{4}ftyp/],
	['webm', 'video/webm', /^\x1aE\xdf\xa3/],
	['json', 'application/json'],
	[
		'srt',
		'application/x-subrip text/srt',
		textMark('\\s*\\d+[ \\t]*\\r?\\n[\\d:]+[,.]\\d+[ \\t]*-->'),
	],
	['vtt', 'text/vtt', textMark('\\s*WEBVTT')],
	['txt', 'text/plain'],
];

const TYPES = FILE_TYPES.map(([extensions, mimeTypes, mark]) => {
	const [names, types] = [extensions.split(' '), mimeTypes.split(' ')];
	const type: FileType = { mimeType: types[0] ?? '', extension: names[0] ?? '' };
	return { names, types, type, mark };
});

export const typeByExtension = (extension: string): FileType | undefined =>
	TYPES.find(({ names }) => names.includes(extension))?.type;

export const mimeTypeOf = (extension: string): string => typeByExtension(extension)?.mimeType ?? '';

/** Samples without any header: nothing in such a file tells what it is. */
export const isRaw = ({ extension }: FileType): boolean => /^(pcm|[ua]law)$/.test(extension);

/** Finds the type of an output format, such as "mp3_44100_128" or "pcm_16000". */
export const typeOfFormat = (format: string): FileType | undefined =>
	typeByExtension(/^[a-z\d]*/.exec(format.toLowerCase())?.[0] ?? '');

/** Returns the extension of a path or name in small letters; empty if it has none. */
export const extensionIn = (path: string): string =>
	/\.([a-z0-9]{2,5})$/i.exec(path)?.[1]?.toLowerCase() ?? '';

type Media = 'audio' | 'image' | 'video' | 'transcript';

export function mediaOf(extension: string): Media | undefined {
	const mimeType = mimeTypeOf(extension);
	if (/(json|subrip|vtt)$/.test(mimeType)) return 'transcript';
	return /^(audio|image|video)(?=\/)/.exec(mimeType)?.[0] as Media | undefined;
}

export function typeByMimeType(mimeType: string): FileType | undefined {
	// The last one counts: "audio/ogg" is .ogg, whatever is in it.
	const found = TYPES.filter(({ types }) => types.includes(mimeType)).at(-1);
	return found && { mimeType, extension: found.type.extension };
}

/** Returns whether a file is of a type according to what states its type, or to its name. */
export const isOfType = (
	{ mimeType, fileName = '' }: { mimeType: string; fileName?: string },
	extension: string,
): boolean => [typeByMimeType(mimeType)?.extension, extensionIn(fileName)].includes(extension);

/** Enough bytes to tell the types apart. */
export const FILE_HEAD_BYTES = 4_100;

export function typeByMark(head: Buffer): FileType | undefined {
	const text = head.toString('latin1', 0, FILE_HEAD_BYTES);
	return TYPES.find(({ mark }) => mark?.test(text))?.type;
}
