/** What a file host sends with HTTP 200 and is not a result: pages, messages, words; and what is one, however it begins. */
import { fileTypeOf, problemWith, type AboutFile } from '../../nodes/MediaGeneration/files/kind';
import type { OutputKind } from '../../nodes/MediaGeneration/transport/outputs';

const XHTML =
	'<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd"><html>';
const S3 =
	'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>';

const pages: Array<[string, Buffer | string]> = [
	['HTML', '<!DOCTYPE html><title>Error</title>'],
	['HTML after a byte order mark', '\ufeff<html>'],
	['a comment longer than what is looked at', `<!-- ${'x'.repeat(9_000)} --><p>Gone</p>`],
	['HTML in Latin-1', Buffer.from('<p>Accès refusé</p>', 'latin1')],
	["a store's error in XML", S3],
	['words', 'Access denied'],
	['words, cut within a letter', Buffer.from('Accès é').subarray(0, 8)],
	['HTML with control bytes', '<html>\x01\x02<p>Gone</p>'],
	['a JSON message', '{"message":"expired"}'],
	['a JSON list', '[{"error":"expired"}]'],
	['a single word in JSON', '"expired"'],
];
const types = [
	'audio/mpeg',
	'image/png',
	'application/octet-stream',
	'text/html',
	'application/xml',
	'',
];

const problemOf = (body: Buffer | string, about: Partial<AboutFile>) =>
	problemWith(Buffer.from(body as string), {
		kind: 'audio',
		url: 'https://files.example/x',
		stated: undefined,
		...about,
	});
const INSTEAD = /^the file host sent .+ instead of the file/;

describe.each<OutputKind>(['audio', 'image'])('%s', (kind) => {
	test.each(pages)('%s is not a file, whatever its type says', (_name, body) => {
		for (const stated of types) expect(problemOf(body, { kind, stated })).toMatch(INSTEAD);
	});

	test.each(['text/html', 'application/xml', 'application/problem+json'])(
		'bytes that no signature knows with the type %s are an error page',
		(stated) => {
			const compressed = Buffer.from('1f8b0800000000000003abcd01ff', 'hex');
			expect(problemOf(compressed, { kind, stated })).toMatch(INSTEAD);
		},
	);
});

test.each<[Partial<AboutFile>, string, reason: RegExp]>([
	[{ kind: 'file', url: 'https://files.example/film.mp4' }, '<html>', /a web page instead/],
	[{ kind: 'file', stated: 'video/mp4' }, '<html>', /a web page instead/],
	[{ kind: 'file' }, XHTML, /a web page instead/],
	[{ kind: 'transcript' }, '<html>\x01\x02</html>', /a web page instead/],
	[{ kind: 'file' }, S3, /an XML message instead of the file: .*AccessDenied/],
	[{ kind: 'file' }, ' {"success": false}', /a JSON message instead/],
	[{ kind: 'transcript' }, '{"message":"x","details":[]}', /a JSON message/],
	[
		{ kind: 'transcript' },
		'[{"error":"expired"}]',
		/a JSON message instead of the file: .*expired/,
	],
	[{ kind: 'transcript', url: 'https://f.example/x.json' }, 'Access denied', /a text instead/],
	[{ kind: 'file', url: 'https://f.example/x.svg' }, 'Access denied', /: Access denied$/],
])('%j does not begin with %j', (about, body, reason) => {
	expect(problemOf(body, about)).toMatch(reason);
});

const SEGMENTS = '"segments":[{"text":"a"}]}';
test.each<[OutputKind, string, Buffer | string, string]>([
	['transcript', '.json', '[{"word":"a"},{"error":"a spoken word"}]', 'application/json'],
	['transcript', '.json', `{"message":"ok","code":0,${SEGMENTS}`, 'application/json'],
	['transcript', '.json', `{"error":null,${SEGMENTS}`, 'application/json'],
	['transcript', '.json', '{"text":"message"}', 'application/json'],
	['transcript', '.srt', '1\n00:00:00,000 --> 00:00:01,000\n<b>x</b>', 'application/x-subrip'],
	['transcript', '.srt', '\n\n0\n0:00:00.0 --> 0:00:01.0\nx', 'application/x-subrip'],
	['transcript', '.txt', 'Hello there', 'text/plain'],
	['file', '.csv', 'a,b\n1,2', 'text/csv'],
	['file', '', '<svg xmlns="x">', 'image/svg+xml'],
	['image', '.svg', '<?xml version="1.0"?>\n<!-- By hand -->\n<svg xmlns="x">', 'image/svg+xml'],
	['audio', '.pcm', Buffer.from('ffff00000100ffff', 'hex'), 'audio/pcm'],
	['audio', '.pcm', Buffer.alloc(6_000, 0x80), 'audio/pcm'],
])('%s%s can begin with %j: %s', (kind, extension, body, mimeType) => {
	const about = { kind, url: `https://files.example/x${extension}`, stated: undefined };
	expect(problemOf(body, about)).toBeUndefined();
	expect(fileTypeOf(Buffer.from(body as string), about).mimeType).toBe(mimeType);
});

describe('a transcript', () => {
	const about = (extension: string) => ({
		kind: 'transcript' as const,
		url: `https://files.example/x${extension}`,
	});
	const problem = (value: unknown) => problemOf(JSON.stringify(value), about('.json'));

	test.each(
		'error errors error_message errorMessage error_code errorcode Message detail code'.split(' '),
	)('is no object with "%s"', (key) => {
		expect(problem({ [key]: 'expired' })).toBe(
			`the file host sent a JSON message instead of the file: {"${key}":"expired"}`,
		);
		expect(problem({ request_id: 'r1', [key]: 'expired', retryable: false })).toMatch(
			/^the file host sent a JSON message/,
		);
	});

	test.each<[string, unknown]>([
		['with a field whose name only holds such a word', { message_id: 1, my_error: 1, codec: 'x' }],
		['with an error that is null', { error: null, text: 'Hello' }],
		['with a list, whatever else it has', { error: 'none', words: [] }],
		['that was a success', { success: true, text: 'Hello' }],
	])('can be an object %s', (_name, value) => {
		expect(problem(value)).toBeUndefined();
	});

	test('is no object that says that it failed, whatever it lists', () => {
		expect(problem({ success: false, words: [] })).toMatch(/^the file host sent a JSON message/);
	});

	test.each<[string, string, string | undefined]>([
		['.vtt', 'WEBVTT\n\nNOTE nothing was said', undefined],
		['.vtt', '00:01.000 --> 00:02.000\nHello', undefined],
		['.vtt', 'Hello', 'the file host sent a text instead of the file: Hello'],
		['.txt', 'Hello', undefined],
		['', 'Hello', undefined],
	])('at an address with "%s" that begins with %j: %s', (extension, text, expected) => {
		expect(problemOf(text, about(extension))).toBe(expected);
	});

	test('that is no text may be one that n8n did not decompress', () => {
		expect(problemOf(Buffer.from('1f8b08000000', 'hex'), about('.srt'))).toBeUndefined();
	});

	test('of a type that its host states wrongly', () => {
		expect(problemOf('Hi --> there', { ...about('.srt'), stated: 'audio/mpeg' })).toBeUndefined();
	});
});

test('long words are cut', () => {
	expect(problemOf('x'.repeat(500), {})).toMatch(/: x{100}\.\.\.$/);
});
