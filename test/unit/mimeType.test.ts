import {
	fileTypeOf,
	looksLikeHtml,
	looksLikeJson,
	sniff,
} from '../../nodes/MediaGeneration/delivery/mimeType';

const bytes = (text: string) => Buffer.from(text, 'latin1');
const URL_BARE = 'https://files.example/x';

test.each<[string, string, string]>([
	['\x89PNG\r\n\x1a\n....', 'image/png', 'png'],
	['\xff\xd8\xff\xe0....', 'image/jpeg', 'jpg'],
	['GIF89a....', 'image/gif', 'gif'],
	['GIF87a....', 'image/gif', 'gif'],
	['RIFF\0\0\0\0WEBPVP8 ', 'image/webp', 'webp'],
	['RIFF\0\0\0\0WAVEfmt ', 'audio/wav', 'wav'],
	['ID3\x04\0', 'audio/mpeg', 'mp3'],
	['\xff\xfb\x90\x00', 'audio/mpeg', 'mp3'],
	['\xff\xf3\x90\x00', 'audio/mpeg', 'mp3'],
	['\xff\xf1\x50\x80', 'audio/aac', 'aac'],
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
])('bytes %j are %s', (text, mimeType, extension) => {
	expect(sniff(bytes(text))).toEqual({ mimeType, extension });
	// Whatever header and address say.
	expect(fileTypeOf(bytes(text), 'text/plain', 'https://files.example/x.zip', 'file')).toEqual({
		mimeType,
		extension,
	});
});

test.each([
	'',
	'x',
	'\xff',
	'\xff\xff\xff',
	'\xff\xe0',
	'RIFF',
	'BM',
	'ftyp',
	'hello world',
	'{"a":1}',
	'<html>',
])('bytes %j are nothing known', (text) => {
	expect(sniff(bytes(text))).toBeUndefined();
});

test.each<[string | undefined, string, 'audio' | 'image' | 'transcript' | 'file', string, string]>([
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
])('header %p and address %s of a %s: %s', (header, url, kind, mimeType, extension) => {
	expect(fileTypeOf(bytes('no magic'), header, url, kind)).toEqual({ mimeType, extension });
});

test.each([
	['<!DOCTYPE html><html>', true],
	['\n <html lang="en">', true],
	['<!-- saved --><html>', true],
	['<body>', true],
	['<svg>', false],
	['1\n00:00:00,000 --> 00:00:01,000\n<b>x</b>', false],
	['', false],
])('%j is a web page: %p', (text, expected) => {
	expect(looksLikeHtml(bytes(text))).toBe(expected);
});

test.each([
	['{"a":1}', true],
	['{}', true],
	[' [ 1 ]', true],
	['[]', true],
	['[Verse 1]', false],
	['{verse}', false],
	['', false],
])('%j is JSON: %p', (text, expected) => {
	expect(looksLikeJson(bytes(text))).toBe(expected);
});
