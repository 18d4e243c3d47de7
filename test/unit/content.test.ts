/** What a file host sends with HTTP 200 and is not a result: pages, messages, words; and what is one, however it begins. */
import { problemWith } from '../../nodes/MediaGeneration/files/kind';
import type { OutputKind } from '../../nodes/MediaGeneration/transport/outputs';
import { host, type Asked } from './scriptedHost';

const XHTML =
	'<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd"><html>';
const S3 =
	'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>';

const pages: Array<[string, Buffer | string]> = [
	['HTML', '<!DOCTYPE html><title>Error</title>'],
	['HTML after a byte order mark', '\ufeff<html>'],
	['an XHTML prolog', XHTML],
	['a long comment first', `<!-- ${'x'.repeat(3_000)} --><p>Gone</p>`],
	['a comment longer than what is looked at', `<!-- ${'x'.repeat(9_000)} --><p>Gone</p>`],
	['HTML in Latin-1', Buffer.from('<p>Accès refusé</p>', 'latin1')],
	["a store's error in XML", S3],
	['words', 'Access denied'],
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

const sent = (body: Buffer | string, contentType: string) =>
	host(() => ({
		body: Buffer.from(body as string),
		headers: { 'content-type': contentType },
	}));

describe.each<OutputKind>(['audio', 'image'])('%s', (kind) => {
	test.each(pages)('%s is not a file, whatever its type says', async (_name, body) => {
		for (const contentType of types) {
			const { run, requests } = sent(body, contentType);
			const asked: Asked = { kind, url: 'https://files.example/x' };
			await expect(run(asked)).rejects.toThrow(/^the file host sent .+ instead of the file/);
			expect(requests).toHaveLength(4);
		}
	});

	test.each([
		'text/html',
		'text/plain; charset=utf-8',
		'application/xhtml+xml',
		'application/xml',
		'application/problem+json',
	])('bytes that no signature knows with the type %s are an error page', async (contentType) => {
		const compressed = Buffer.from('1f8b0800000000000003abcd01ff', 'hex');
		const { run } = sent(compressed, contentType);
		await expect(run({ kind })).rejects.toThrow(/instead of the file/);
	});
});

test.each([
	['application/octet-stream', 'https://files.example/film.mp4'],
	['video/mp4', 'https://files.example/x'],
])('a film is no web page either, by %s or %s', async (type, url) => {
	await expect(sent('<html>', type).run({ kind: 'file', url })).rejects.toThrow(
		/instead of the file/,
	);
});

test.each<[OutputKind, string, extension: string, reason: RegExp]>([
	['transcript', '<html>', '.srt', /a web page instead/],
	['transcript', S3, '.json', /an XML message instead of the file: .*AccessDenied/],
	['file', S3, '', /an XML message instead/],
	['transcript', '{"error":"expired"}', '.json', /a JSON message instead of the file: .*expired/],
	['file', ' {"success": false}', '', /a JSON message instead/],
	['transcript', '{"message":"x","details":[]}', '.json', /a JSON message/],
	['transcript', '[{"error":"expired"}]', '.json', /a JSON message/],
	['transcript', '<html>\x01\x02</html>', '.srt', /a web page instead/],
	['transcript', 'Access denied', '.json', /a text instead of the file/],
	['file', 'Access denied', '.svg', /a text instead of the file: Access denied$/],
])('a %s is not %j at an address with "%s"', (kind, body, extension, reason) => {
	const url = `https://files.example/x${extension}`;
	expect(problemWith(Buffer.from(body), { kind, url, stated: undefined })).toMatch(reason);
});

test('an error page that goes away is forgotten', async () => {
	const { run, clock } = host((count) => (count < 4 ? { body: Buffer.from('<html>') } : {}));
	const before = clock.now();
	expect((await run()).type.mimeType).toBe('audio/mpeg');
	expect(clock.now() - before).toBe(400 + 800 + 1_600);
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
	['image', '.svg', '<?xml version="1.0"?>\n<!-- By hand -->\n<svg xmlns="x">', 'image/svg+xml'],
	['audio', '.pcm', Buffer.from('ffff00000100ffff', 'hex'), 'audio/pcm'],
	['audio', '.pcm', Buffer.alloc(6_000, 0xff), 'audio/pcm'],
	['audio', '.pcm', Buffer.alloc(6_000, 0x80), 'audio/pcm'],
])('%s%s can begin with %j: %s', async (kind, extension, body, mimeType) => {
	const { type } = await sent(body, '').run({ kind, url: `https://files.example/x${extension}` });
	expect(type.mimeType).toBe(mimeType);
});

describe('a transcript', () => {
	const about = (extension: string) => ({
		kind: 'transcript' as const,
		url: `https://files.example/x${extension}`,
		stated: undefined,
	});
	const problem = (value: unknown) =>
		problemWith(Buffer.from(JSON.stringify(value)), about('.json'));

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
		expect(problemWith(Buffer.from(text), about(extension))).toBe(expected);
	});

	test('that is no text may be one that n8n did not decompress', () => {
		expect(problemWith(Buffer.from('1f8b08000000', 'hex'), about('.srt'))).toBeUndefined();
	});

	test('of a type that its host states wrongly', () => {
		const stated = { ...about('.srt'), stated: 'audio/mpeg' };
		expect(
			problemWith(Buffer.from('1\n00:00:00,000 --> 00:00:01,000\nHi'), stated),
		).toBeUndefined();
		expect(problemWith(Buffer.from('Hi --> there'), stated)).toBeUndefined();
	});
});

const SOUND = { kind: 'audio', url: 'https://files.example/x', stated: undefined } as const;
test.each<[string, string]>([
	['<!DOCTYPE HTML><p>', 'a web page'],
	['<?xml version="1.0"?><html>', 'a web page'],
	['<?xml version="1.0"?>\n<!DOCTYPE\n  html PUBLIC "x"><html>', 'a web page'],
	['<p>It does not begin with <?xml version="1.0"?></p>', 'a web page'],
	['<Error>No <html> here</Error>', 'an XML message'],
	['<?xml version="1.0"?><x>', 'an XML message'],
	['<Error>No</Error>', 'an XML message'],
	['{"a":1}', 'a JSON message'],
	['Gone', 'a text'],
])('%j instead of sound is called %s', (text, name) => {
	const said = name === 'a web page' ? '' : `: ${text}`;
	expect(problemWith(Buffer.from(text), SOUND)).toBe(
		`the file host sent ${name} instead of the file${said}`,
	);
});

test('long words are cut', () => {
	expect(problemWith(Buffer.from('x'.repeat(500)), SOUND)).toBe(
		`the file host sent a text instead of the file: ${'x'.repeat(100)}...`,
	);
});
