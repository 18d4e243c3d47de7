import { fileTypeOf, signatureOf } from '../../nodes/MediaGeneration/delivery/mimeType';
import { aacFrame, mpegFrame } from '../../nodes/MediaGeneration/delivery/mpeg';
import { textOf } from '../../nodes/MediaGeneration/delivery/text';
import type { OutputKind } from '../../nodes/MediaGeneration/service/outputs';

const bytes = (text: string) => Buffer.from(text, 'latin1');
const URL_BARE = 'https://files.example/x';
/** Two frames, each as long as its header says. */
const frames = (header: string, length: number) =>
	[0, 1].map(() => header + '\x01'.repeat(length - header.length)).join('');

test.each(
	(
		[
			['\x89PNG\r\n\x1a\n....', 'image/png', 'png'],
			['\xff\xd8\xff\xe0....', 'image/jpeg', 'jpg'],
			['GIF89a....', 'image/gif', 'gif'],
			['GIF87a....', 'image/gif', 'gif'],
			['RIFF\0\0\0\0WEBPVP8 ', 'image/webp', 'webp'],
			['RIFF\0\0\0\0WAVEfmt ', 'audio/wav', 'wav'],
			['ID3\x04\0', 'audio/mpeg', 'mp3'],
			[frames('\xff\xfb\x90\x64', 417), 'audio/mpeg', 'mp3'],
			[frames('\xff\xf3\x40\xc4', 104), 'audio/mpeg', 'mp3'],
			[frames('\xff\xfd\x84\x00', 384), 'audio/mpeg', 'mp3'],
			[frames('\xff\xf1\x50\x80\x20\x1f\xfc', 256), 'audio/aac', 'aac'],
			['OggS\0.....vorbis', 'audio/ogg', 'ogg'],
			['OggS\0.....OpusHead', 'audio/ogg', 'opus'],
			['fLaC\0', 'audio/flac', 'flac'],
			['\0\0\0\x20ftypavif', 'image/avif', 'avif'],
			['\0\0\0\x20ftypM4A ', 'audio/mp4', 'm4a'],
			['\0\0\0\x20ftypisom', 'video/mp4', 'mp4'],
			['\x1aE\xdf\xa3', 'video/webm', 'webm'],
			['BM\x10\0\0\0\0\0\0\0\0\0\0\0\0\0', 'image/bmp', 'bmp'],
			['II*\0', 'image/tiff', 'tiff'],
			['%PDF-1.7', 'application/pdf', 'pdf'],
			['PK\x03\x04', 'application/zip', 'zip'],
			['WEBVTT\n\n', 'text/vtt', 'vtt'],
			['\xef\xbb\xbf1\r\n00:00:00,000 --> 00:00:01,000\r\nHello', 'application/x-subrip', 'srt'],
			['<svg xmlns="x">', 'image/svg+xml', 'svg'],
			['<?xml version="1.0"?><!DOCTYPE svg><!-- x --><svg xmlns="x">', 'image/svg+xml', 'svg'],
		] as Array<[string, string, string]>
	).map(([text, mimeType, extension]): [string, string, string, string] => [
		text.slice(0, 40),
		mimeType,
		extension,
		text,
	]),
)('bytes %j are %s', (_name, mimeType, extension, text) => {
	expect(signatureOf(bytes(text))).toEqual({ mimeType, extension });
	// Whatever header and address say.
	const about = { stated: 'text/plain', url: 'https://files.example/x.zip', kind: 'file' } as const;
	expect(fileTypeOf(bytes(text), about)).toEqual({ mimeType, extension });
});

test.each([
	'',
	'x',
	'\xff',
	'\xff\xff\xff',
	'\xff\xe0',
	'\xff\xfb\x90\x00',
	'\xff\xf1\x50\x80',
	'\xff\xfb\x90\x64'.padEnd(500, '\x01'),
	'RIFF',
	'BM',
	'ftyp',
	'ID3 tags are not supported',
	'hello world',
	'{"a":1}',
	'<html>',
])('bytes %j are nothing known for certain', (text) => {
	expect(signatureOf(bytes(text))).toBeUndefined();
});

const typed = (head: string, stated: string | undefined, url: string, kind: OutputKind = 'audio') =>
	fileTypeOf(bytes(head), { stated, url, kind }).mimeType;

describe('two bytes that may be MPEG audio', () => {
	// -1, 0, 1 as 16-bit samples.
	const samples = '\xff\xff\0\0\x01\0';
	const frame = '\xff\xfb\x90\x00';
	test('do not overrule what the header or the address says', () => {
		expect(typed(samples, 'audio/pcm', `${URL_BARE}.pcm`)).toBe('audio/pcm');
		expect(typed(samples, 'audio/L16; rate=24000', URL_BARE)).toBe('audio/l16');
		expect(typed(samples, 'application/octet-stream', `${URL_BARE}.pcm`)).toBe('audio/pcm');
		expect(typed('\xff\xf1\x50\x80', 'audio/pcm', URL_BARE)).toBe('audio/pcm');
	});
	test('count where nothing else says anything', () => {
		expect(typed(frame, 'application/octet-stream', URL_BARE)).toBe('audio/mpeg');
		expect(typed(frame, 'text/plain', URL_BARE)).toBe('audio/mpeg');
		expect(typed('\xff\xf1\x50\x80', undefined, URL_BARE)).toBe('audio/aac');
	});
});

test.each<[string, number | undefined]>([
	['\xff\xfb\x90\x64', 417],
	['\xff\xfb\x92\x64', 418],
	['\xff\xf3\x40\xc4', 104],
	['\xff\xe3\x40\xc4', 208],
	['\xff\xfd\x84\x00', 384],
	['\xff\xff\x14\x00', 32],
	['\xff\xfb\x00\x00', undefined],
])('the MPEG frame %j says its length: %p', (header, length) => {
	expect(mpegFrame(bytes(header), 0)).toEqual({ length });
});

test.each([
	'\xff\xfb\xf0',
	'\xff\xfb\x9c',
	'\xff\xe9\x90',
	'\xff\xf9\x90',
	'\xfe\xfb\x90',
	'\xff\xfb',
])('%j is not an MPEG frame', (header) => {
	expect(mpegFrame(bytes(header), 0)).toBeUndefined();
});

test('an AAC frame says its length', () => {
	expect(aacFrame(bytes('\xff\xf1\x50\x80\x20\x1f\xfc'), 0)).toEqual({ length: 256 });
	expect(aacFrame(bytes('\xff\xf1'), 0)).toEqual({ length: undefined });
	expect(aacFrame(bytes('\xff\xfb\x90\x64\0\0\0'), 0)).toBeUndefined();
});

test.each<[string | undefined, string, OutputKind, string, string]>([
	['audio/mpeg', URL_BARE, 'audio', 'audio/mpeg', 'mp3'],
	['Audio/MPEG; charset=x', URL_BARE, 'audio', 'audio/mpeg', 'mp3'],
	['application/octet-stream', `${URL_BARE}.mp3?sig=1.zip`, 'audio', 'audio/mpeg', 'mp3'],
	['application/json', `${URL_BARE}.wav`, 'audio', 'audio/wav', 'wav'],
	['application/json', URL_BARE, 'transcript', 'application/json', 'json'],
	[undefined, `${URL_BARE}.SRT`, 'transcript', 'application/x-subrip', 'srt'],
	[undefined, URL_BARE, 'transcript', 'text/plain', 'txt'],
	[undefined, URL_BARE, 'image', 'application/octet-stream', 'bin'],
	['nonsense', `${URL_BARE}.exe`, 'file', 'application/octet-stream', 'bin'],
	['constructor', URL_BARE, 'file', 'application/octet-stream', 'bin'],
	[undefined, `${URL_BARE}.constructor`, 'file', 'application/octet-stream', 'bin'],
	['__proto__', `${URL_BARE}.valueOf`, 'file', 'application/octet-stream', 'bin'],
])('header %p and address %s of a %s: %s', (stated, url, kind, mimeType, extension) => {
	expect(fileTypeOf(bytes('no magic'), { stated, url, kind })).toEqual({ mimeType, extension });
});

test.each<[string, Buffer, string | undefined]>([
	['nothing', Buffer.alloc(0), ''],
	['a text', Buffer.from(' \ufeff Hello'), 'Hello'],
	['a text that is cut within a letter', Buffer.from('héé').subarray(0, 4), 'hé'],
	['a text with a control character', Buffer.from('Hel\x01lo'), undefined],
	['UTF-16 that is cut within a letter', Buffer.from('\ufeffAé𝒜', 'utf16le').subarray(0, 8), 'Aé'],
	['other bytes after the mark of UTF-16', Buffer.from('fffe00d800d8', 'hex'), undefined],
	[
		'small samples, half of which are zero',
		Buffer.from('2000ff00200021002000200020002000', 'hex'),
		undefined,
	],
	['bytes that are hardly ever letters', Buffer.alloc(40, 0xd5), undefined],
])('%s as text', (_name, head, text) => {
	expect(textOf(head)).toBe(text);
});
