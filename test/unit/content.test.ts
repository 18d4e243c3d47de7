/** What a file host sends with HTTP 200 and is not a result: pages, messages, words; and what is one, however it begins. */
import { problemWith, type AboutFile } from '../../nodes/MediaGeneration/files/kind';
import type { OutputKind } from '../../nodes/MediaGeneration/answers/outputs';

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

const at = (end: string, kind: OutputKind = 'transcript') => ({
	...{ kind, url: `https://files.example/x${end}` },
});
const file = { kind: 'file' } as const;
const transcript = at('');
const TEXT = /a text instead of the file: ./;
test.each<[Partial<AboutFile>, string, RegExp]>([
	[at('.mp4', 'file'), '<html>', /a web page instead/],
	[{ ...file, stated: 'video/mp4' }, '<html>', /a web page instead/],
	[file, XHTML, /a web page instead/],
	[transcript, '<html>\x01\x02</html>', /a web page instead/],
	[file, S3, /a web page instead of the file: .*AccessDenied/],
	[file, ' {"success": false}', TEXT],
	[transcript, '[{"error":"expired"}]', /a text instead of the file: .*expired/],
	[transcript, '{"success":false,"words":[]}', TEXT],
	[at('.json'), 'Access denied', TEXT],
	[at('.vtt'), 'Hello', TEXT],
	[at('.svg', 'file'), 'Access denied', /: Access denied$/],
	[{ kind: 'audio' }, 'x'.repeat(500), /: x{100}\.\.\.$/],
])('%j does not begin with %j', (about, body, reason) => {
	expect(problemOf(body, about)).toMatch(reason);
});

test('an error that is longer than what is read of it is known by its beginning', () => {
	for (const begin of ['{"error": {"message":"', '{"success":false,"trace":"'])
		expect(problemOf(begin + 'x'.repeat(9_000), transcript)).toMatch(TEXT);
});

const SEGMENTS = '"segments":[{"text":"a"}]}';
test.each<[string, Partial<AboutFile>, Buffer | string]>([
	['words with such a name', transcript, '{"message_id":1,"my_error":1,"codec":"x"}'],
	['a code and a message, which prove nothing', transcript, '{"code":"en-US","message":"Hello"}'],
	['an error that is null', transcript, '{"error":null,"text":"Hello"}'],
	['more than is read', transcript, `{"error": null,"text":"${'x'.repeat(9_000)}`],
	['a list, whatever else it has', transcript, `{"message":"ok","code":0,${SEGMENTS}`],
	['a list of which one entry is an error', at('.json'), '[{"word":"a"},{"error":"a word"}]'],
	['a success', transcript, '{"success":true,"text":"Hello"}'],
	['a head alone', at('.vtt'), 'WEBVTT\n\nNOTE nothing was said'],
	['no head', at('.vtt'), '00:01.000 --> 00:02.000\nHello'],
	['markup', at('.srt'), '1\n00:00:00,000 --> 00:00:01,000\n<b>x</b>'],
	['blank lines', at('.srt'), '\n\n0\n0:00:00.0 --> 0:00:01.0\nx'],
	['text', at('.txt'), 'Hello'],
	['text at a bare address', transcript, 'Hello'],
	['what n8n did not decompress', at('.srt'), Buffer.from('1f8b08000000', 'hex')],
	['another type, stated wrongly', { ...at('.srt'), stated: 'audio/mpeg' }, 'Hi --> there'],
	['a table', at('.csv', 'file'), 'a,b\n1,2'],
	['a drawing', at('.svg', 'image'), '<?xml version="1.0"?>\n<!-- By hand -->\n<svg xmlns="x">'],
	['samples', at('.pcm', 'audio'), Buffer.from('ffff00000100ffff', 'hex')],
	['no known type', { kind: 'audio', stated: 'text/plain' }, Buffer.from('ffff0000', 'hex')],
])('a result can have %s', (_name, about, body) => {
	expect(problemOf(body, about)).toBeUndefined();
});

test.each('error errors error_message errorMessage'.split(' '))(
	'it is no object with "%s"',
	(key) => {
		const said = 'the file host sent a text instead of the file: ';
		const alone = JSON.stringify({ [key]: 'expired' });
		expect(problemOf(alone, transcript)).toBe(said + alone);
		const among = JSON.stringify({ request_id: 'r1', [key]: 'expired', retryable: false });
		expect(problemOf(among, transcript)).toBe(said + among);
	},
);
