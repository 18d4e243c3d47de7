import { fileTypeOf } from '../../nodes/MediaGeneration/files/kind';
import { typeOfBytes, type FileType } from '../../nodes/MediaGeneration/audio/kinds';
import type { OutputKind } from '../../nodes/MediaGeneration/transport/outputs';

const bytes = (text: string) => Buffer.from(text, 'latin1');
const URL_BARE = 'https://files.example/x';
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
	[frames('\xff\xf1\x50\x80\x20\x1f\xfc', 256), 'audio/aac', 'aac'],
	['OggS\0.....vorbis', 'audio/ogg', 'ogg'],
	['OggS\0.....OpusHead', 'audio/ogg', 'opus'],
	['\0\0\0\x20ftypavif', 'image/avif', 'avif'],
	['\0\0\0\x20ftypM4A ', 'audio/mp4', 'm4a'],
	['\0\0\0\x20ftypisom', 'video/mp4', 'mp4'],
	['\x1aE\xdf\xa3', 'video/webm', 'webm'],
	['II*\0', 'image/tiff', 'tiff'],
	['%PDF-1.7', 'application/pdf', 'pdf'],
	['PK\x03\x04', 'application/zip', 'zip'],
	['WEBVTT\n\n', 'text/vtt', 'vtt'],
	['\xef\xbb\xbf12 \n00:00:00,000 --> 00:00:01,000\r\nHello', 'application/x-subrip', 'srt'],
	['<svg xmlns="x">', 'image/svg+xml', 'svg'],
	['<?xml version="1.0"?><!DOCTYPE svg><!-- x --><svg xmlns="x">', 'image/svg+xml', 'svg'],
];
test.each(known.map(([text, ...type]) => [text.slice(0, 40), ...type, text] as const))(
	'bytes %j are %s',
	(_name, mimeType, extension, text) => {
		expect(typeOfBytes(bytes(text))).toEqual({ type: { mimeType, extension }, certain: true });
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
	'\xff\xf1\x50\x80',
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
	// AAC frames that say that they are shorter than their own header.
	'\xff\xf1\x50\x80\0\0\0\0',
	'\xff\xf1\x50\x80\0\xc0'.repeat(2),
])('bytes %j are nothing known for certain', (text) => {
	expect(typeOfBytes(bytes(text))?.certain).not.toBe(true);
});

/** -1, 0 and 1 as samples, and what may be a first frame. */
const [SAMPLES, FRAME, AAC] = ['\xff\xff\0\0\x01\0', '\xff\xfb\x90\x00', '\xff\xf1\x50\x80'];
test.each<[string, string | undefined, string, string, string]>([
	[SAMPLES, 'audio/pcm', `${URL_BARE}.pcm`, 'audio/pcm', 'pcm'],
	[SAMPLES, 'audio/L16; rate=24000', URL_BARE, 'audio/l16', 'pcm'],
	[AAC, 'audio/pcm', URL_BARE, 'audio/pcm', 'pcm'],
	// Where nothing else says anything.
	[FRAME, 'application/octet-stream', URL_BARE, 'audio/mpeg', 'mp3'],
	[AAC, undefined, URL_BARE, 'audio/aac', 'aac'],
])('%j may be MPEG audio, with header %j and address %s: %s', (head, stated, url, ...type) => {
	const [mimeType, extension] = type;
	expect(fileTypeOf(bytes(head), { stated, url, kind: 'audio' })).toEqual({ mimeType, extension });
});

test.each<[string | undefined, string, OutputKind, string, string]>([
	['audio/mpeg', URL_BARE, 'audio', 'audio/mpeg', 'mp3'],
	['application/octet-stream', `${URL_BARE}.mp3?sig=1.zip`, 'audio', 'audio/mpeg', 'mp3'],
	['application/json', `${URL_BARE}.wav`, 'audio', 'audio/wav', 'wav'],
	[undefined, 'https://files.example/v2.final/take.01.wav', 'audio', 'audio/wav', 'wav'],
	['application/json', URL_BARE, 'transcript', 'application/json', 'json'],
	[undefined, `${URL_BARE}.SRT`, 'transcript', 'application/x-subrip', 'srt'],
	[undefined, URL_BARE, 'transcript', 'text/plain', 'txt'],
	['application/json', URL_BARE, 'image', 'application/octet-stream', 'bin'],
	['audio/wav', `${URL_BARE}.mp3`, 'audio', 'audio/mpeg', 'mp3'],
	['__proto__', `${URL_BARE}.valueOf`, 'file', 'application/octet-stream', 'bin'],
])('header %j and address %s of a %s: %s', (stated, url, kind, mimeType, extension) => {
	expect(fileTypeOf(bytes('no magic'), { stated, url, kind })).toEqual({ mimeType, extension });
});

const JSON_TYPE: FileType = { mimeType: 'application/json', extension: 'json' };
const BYTES: FileType = { mimeType: 'application/octet-stream', extension: 'bin' };
const PLAIN: FileType = { mimeType: 'text/plain', extension: 'txt' };

test.each<[string, FileType]>([
	['{"segments":[]}', JSON_TYPE],
	['[null, 1]', JSON_TYPE],
	['He said {"a"} and ["b"]', PLAIN],
	['[Music] Hello', PLAIN],
	['[00:12.50] Hello', PLAIN],
	['\x1f\x8b\x08\0', BYTES],
	['a\xe9bc', BYTES],
	...[...'\0\x08\x0e\x1a\x1c\x1f\x7f'].map((control): [string, FileType] => [
		`a${control}b`,
		BYTES,
	]),
])('a transcript that begins with %j, of which nothing else is known', (text, expected) => {
	const about = { stated: undefined, url: URL_BARE, kind: 'transcript' } as const;
	expect(fileTypeOf(bytes(text), about)).toEqual(expected);
});

describe('the format that was asked for', () => {
	const octets = 'application/octet-stream';
	test.each<[format: string, string, string, string, string, string]>([
		['ulaw_8000', SAMPLES, octets, URL_BARE, 'audio/basic', 'ulaw'],
		['alaw_8000', SAMPLES, octets, `${URL_BARE}.mp3`, 'audio/x-alaw-basic', 'alaw'],
		['pcm_16000', AAC, 'audio/mpeg', `${URL_BARE}.mp3`, 'audio/pcm', 'pcm'],
		['opus_48000_64', SAMPLES, octets, URL_BARE, 'audio/ogg', 'opus'],
		['mp3_44100_128', SAMPLES, 'text/plain', URL_BARE, 'audio/mpeg', 'mp3'],
		// The host knows better.
		['pcm_16000', 'RIFF\0\0\0\0WAVEfmt ', octets, URL_BARE, 'audio/wav', 'wav'],
		['opus_48000_64', 'OggS\0.....OpusHead', octets, `${URL_BARE}.ogg`, 'audio/ogg', 'opus'],
		['mp3_44100_128', SAMPLES, octets, `${URL_BARE}.m4a`, 'audio/mp4', 'm4a'],
		['mp3_44100_128', SAMPLES, 'audio/flac', URL_BARE, 'audio/flac', 'flac'],
		['newest_1', '\xf5\x01', octets, URL_BARE, octets, 'bin'],
	])('%s, %j as %s at %s: %s', (format, head, stated, url, mimeType, extension) => {
		const about = { kind: 'audio', format, stated, url } as const;
		expect(fileTypeOf(bytes(head), about)).toEqual({ mimeType, extension });
	});

	test('says nothing of captions', () => {
		const about = { kind: 'transcript', format: 'pcm_16000', stated: '', url: URL_BARE } as const;
		expect(fileTypeOf(bytes('Hello'), about).extension).toBe('txt');
	});
});
