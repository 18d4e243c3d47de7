import { fileTypeOf, problemWith } from '../../nodes/MediaGeneration/files/kind';
import { typeOfBytes } from '../../nodes/MediaGeneration/audio/scan';
import type { OutputKind } from '../../nodes/MediaGeneration/answers/outputs';

const bytes = (text: string) => Buffer.from(text, 'latin1');
/** Two frames, each as long as its header says. */
const frames = (header: string, length: number) =>
	[0, 1].map(() => header + '\x01'.repeat(length - header.length)).join('');

const known: Array<[string, string, string]> = [
	['\x89PNG\r\n\x1a\n....', 'image/png', 'png'],
	['\xff\xd8\xff\xe0....', 'image/jpeg', 'jpg'],
	['RIFF\0\0\0\0WEBPVP8 ', 'image/webp', 'webp'],
	['RIFF\0\0\0\0WAVEfmt ', 'audio/wav', 'wav'],
	['ID3\x04\0', 'audio/mpeg', 'mp3'],
	[frames('\xff\xfb\x90\x64', 417), 'audio/mpeg', 'mp3'],
	[frames('\xff\xf3\x40\xc4', 104), 'audio/mpeg', 'mp3'],
	['OggS\0.....vorbis', 'audio/ogg', 'ogg'],
	['OggS\0.....OpusHead', 'audio/ogg', 'opus'],
	['\0\0\0\x20ftypavif', 'image/avif', 'avif'],
	['\0\0\0\x20ftypM4A ', 'audio/mp4', 'm4a'],
	['\0\0\0\x20ftypisom', 'video/mp4', 'mp4'],
	['\x1aE\xdf\xa3', 'video/webm', 'webm'],
	['II*\0', 'image/tiff', 'tiff'],
	['\0\0\0\x20ftypheic', 'image/heic', 'heic'],
	['\0\0\0\x14ftypqt  ', 'video/quicktime', 'mov'],
	['WEBVTT\n\n', 'text/vtt', 'vtt'],
	['\xef\xbb\xbf12 \n00:00:00,000 --> 00:00:01,000\r\nHello', 'application/x-subrip', 'srt'],
	['<svg xmlns="x">', 'image/svg+xml', 'svg'],
	['<?xml version="1.0"?><!DOCTYPE svg><!-- x --><svg xmlns="x">', 'image/svg+xml', 'svg'],
];
test.each(known.map(([text, ...type]) => [text.slice(0, 40), ...type, text] as const))(
	'bytes %j are %s',
	(_name, mimeType, extension, text) => {
		expect(typeOfBytes(bytes(text))).toEqual({ mimeType, extension });
		// Whatever header and address say.
		const about = {
			stated: 'text/plain',
			url: 'https://files.example/x.zip',
			kind: 'file',
		} as const;
		expect(fileTypeOf(bytes(text), about)).toEqual({ mimeType, extension });
	},
);

test.each([
	'\xff',
	'\xff\xfb\x90\x00',
	'\xff\xfb\x90\x64'.padEnd(500, '\x01'),
	// Layer II, whose frames are not measured.
	frames('\xff\xfd\x84\x00', 384),
	'ID3 tags are not supported',
	'BM' + '\0'.repeat(12),
	'BM\0\0\0\0\x01' + '\0'.repeat(10),
	' RIFF\0\0\0\0WAVE',
	'LIST\0\0\0\0WAVE',
	'x 1\n00:00:00,000 --> 00:00:01,000',
	'1\n00:00:00 --> 00:00:01',
	'1\n--> 00:00:01,000',
	'<svgs>',
	'<!doctype html><svg>',
])('bytes %j are nothing known', (text) => {
	expect(typeOfBytes(bytes(text))).toBeUndefined();
});

/** -1, 0 and 1 as samples, and what could be a first frame. */
const [SAMPLES, FRAME] = ['\xff\xff\0\0\x01\0', '\xff\xfb\x90\x00'];
const NO_MAGIC = 'no magic';
const OCTETS = 'application/octet-stream';
/** What the host says, the end of the address, and what else is known. */
const sound = (stated?: string, end = '', format?: string) => ({ stated, end, format });
const transcript = (stated?: string, end = '') => ({ stated, end, kind: 'transcript' as const });

test.each<[string, { stated?: string; end?: string; format?: string; kind?: OutputKind }, string]>([
	[SAMPLES, sound('audio/pcm', '.pcm'), 'audio/pcm pcm'],
	[SAMPLES, sound('audio/L16; rate=24000'), 'audio/l16 pcm'],
	[FRAME, sound('audio/pcm'), 'audio/pcm pcm'],
	[NO_MAGIC, { stated: 'text/plain', kind: 'file' }, `${OCTETS} bin`],
	// By header and address.
	[NO_MAGIC, sound('audio/mpeg'), 'audio/mpeg mp3'],
	[NO_MAGIC, sound('application/json', '.wav'), 'audio/wav wav'],
	[NO_MAGIC, sound(undefined, '/v2.final/take.01.wav'), 'audio/wav wav'],
	[NO_MAGIC, sound('audio/wav', '.mp3'), 'audio/mpeg mp3'],
	[NO_MAGIC, { stated: 'application/json', kind: 'image' }, `${OCTETS} bin`],
	[NO_MAGIC, { stated: '__proto__', end: '.valueOf', kind: 'file' }, `${OCTETS} bin`],
	[NO_MAGIC, transcript('application/json'), 'application/json json'],
	[NO_MAGIC, transcript(undefined, '.SRT'), 'application/x-subrip srt'],
	// What begins like files of several types.
	['ID3\x04\0', sound('audio/aac'), 'audio/aac aac'],
	['\0\0\0\x20ftypisom', sound('audio/mp4'), 'audio/mp4 m4a'],
	['\0\0\0\x20ftypisom', sound(OCTETS, '.m4a'), 'audio/mp4 m4a'],
	[frames('\xff\xfb\x90\x64', 417), sound('audio/aac', '.m4a'), 'audio/mpeg mp3'],
	['ID3\x04\0', sound('audio/mp4', '.weba'), 'audio/mpeg mp3'],
	// By its text.
	['{"segments":[]}', transcript(), 'application/json json'],
	['[null, 1]', transcript(), 'application/json json'],
	['He said {"a"} and ["b"]', transcript(), 'text/plain txt'],
	['[00:12.50] Hello', transcript(), 'text/plain txt'],
	['Hello', { ...transcript(), format: 'pcm_16000' }, 'text/plain txt'],
	...['\x1f\x8b\x08\0', 'a\xe9bc', ...[...'\0\x08\x0e\x1a\x1c\x1f\x7f'].map((it) => `a${it}b`)].map(
		(text): [string, object, string] => [text, transcript(), `${OCTETS} bin`],
	),
	// By the format that was asked for, unless the host knows better.
	[SAMPLES, sound(OCTETS, '', 'ulaw_8000'), 'audio/basic ulaw'],
	[SAMPLES, sound(OCTETS, '.mp3', 'alaw_8000'), 'audio/x-alaw-basic alaw'],
	[FRAME, sound('audio/mpeg', '.mp3', 'pcm_16000'), 'audio/pcm pcm'],
	[SAMPLES, sound(OCTETS, '', 'opus_48000_64'), 'audio/ogg opus'],
	[SAMPLES, sound('text/plain', '', 'mp3_44100_128'), 'audio/mpeg mp3'],
	['RIFF\0\0\0\0WAVEfmt ', sound(OCTETS, '', 'pcm_16000'), 'audio/wav wav'],
	[SAMPLES, sound(OCTETS, '.m4a', 'mp3_44100_128'), 'audio/mp4 m4a'],
	['\xf5\x01', sound(OCTETS, '', 'newest_1'), `${OCTETS} bin`],
])('%j, of which %j is known, is %s', (head, { stated, end, format, kind = 'audio' }, type) => {
	const url = `https://files.example/x${end ?? ''}`;
	const { mimeType, extension } = fileTypeOf(bytes(head), { stated, url, format, kind });
	expect(`${mimeType} ${extension}`).toBe(type);
});

test('a host can fill a million bytes with spaces: the beginning decides, in linear time', () => {
	const about = { ...transcript('application/json', '.json'), url: 'https://files.example/x.json' };
	const head = Buffer.from(`{${' '.repeat(1_000_000)}"a":1}`);
	expect(problemWith(head, about)).toMatch(/a text instead of the file: \{$/);
	expect(problemWith(Buffer.from('{"a":"'.padEnd(1_000_000)), about)).toBeUndefined();
});
