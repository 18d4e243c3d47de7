/** Transcripts: read whatever their shape, put together so that they fit the joined sound. */
import * as captions from '../../../nodes/MediaGeneration/audio/captions';
import * as srt from '../../../nodes/MediaGeneration/audio/srt';
import { atOnce as done } from '../../support/work';

const transcriptOf = (text: string) => done(captions.transcriptOf(text));
const parseSrt = (text: string) => done(srt.parseSrt(text));
const { writeCue } = srt;
const merge = (extension: 'srt' | 'json', parts: srt.Spoken[]) =>
	done(captions.mergeTranscripts(extension, parts));

const USUAL = `1
00:00:00,000 --> 00:00:01,500
Once upon a time

2
00:00:01,500 --> 00:00:03,250
there was a lighthouse,
and nobody saw it.
`;
const CUES = [
	{ text: 'Once upon a time', start: 0, end: 1.5 },
	{ text: 'there was a lighthouse,\nand nobody saw it.', start: 1.5, end: 3.25 },
];

describe('SRT', () => {
	test.each<[string, string]>([
		['as usual', USUAL],
		['CR', USUAL.replaceAll('\n', '\r')],
		['no blank lines', USUAL.replaceAll('\n\n', '\n')],
		['a byte order mark', `\ufeff${USUAL}`],
		['points before the milliseconds', USUAL.replaceAll(/,(?=\d{3})/g, '.')],
		['no numbers', USUAL.replaceAll(/^\d\n/gm, '')],
		['places on the screen', USUAL.replaceAll(/(--> \S+)/g, '$1 X1:40 X2:600 Y1:20 Y2:50')],
		[
			'WebVTT with notes between',
			`WEBVTT\n\nSTYLE\n::cue {}\n\n${USUAL.replace(/^2$/m, 'NOTE second\nof two')}\n\nNOTE the end`,
		],
	])('%s', (_, text) => {
		expect(parseSrt(text)).toEqual(CUES);
	});

	const [ONE, TWO] = ['00:00:00,000 --> 00:00:01,000', '00:00:01,000 --> 00:00:02,000'];
	test.each<[string, string[] | undefined]>([
		// A text that is a number stays.
		[`1\n${ONE}\n1\n2\n\n2\n${TWO}\n42\n`, ['1\n2', '42']],
		[`${ONE}\n42\n\n${TWO}\n43`, ['42', '43']],
		// Nothing was said.
		...['', '\ufeff \r\n', `1\n${ONE}\n\n`].map((text): [string, string[]] => [text, []]),
		// Something else.
		...['no subtitles', '<!DOCTYPE html>', '{"error":"expired"}', '--> 00:00:01,000'].map(
			(text): [string, undefined] => [text, undefined],
		),
		[`at ${ONE}\nx`, undefined],
		[`${ONE}x\nx`, undefined],
		['12345:00:00 --> 12345:00:01\nx', undefined],
		['00:00:123 --> 00:00:124\nx', undefined],
	])('%j says %j', (text, texts) => {
		expect(parseSrt(text)?.map((cue) => cue.text)).toEqual(texts);
	});

	test.each<[string, number, number]>([
		['1:02:03 --> 1:02:04', 3_723, 3_724],
		['2:03.5 --> 2:04.25', 123.5, 124.25],
		['00:00:01.50049 --> 00:00:02,9999', 1.5, 2.999],
		['\t00:00:01-->00:00:02 ', 1, 2],
		['1234:00:00 --> 1234:00:01', 4_442_400, 4_442_401],
	])('the times %j', (times, start, end) => {
		expect(parseSrt(`${times}\nx`)).toEqual([{ start, end, text: 'x' }]);
	});
});

describe('more than a transcript has is refused', () => {
	const repeated = (unit: string, characters: number) => unit.repeat(characters / unit.length);
	// Whatever grows with the square of the length does not end within a test's time.
	test.each([
		['lines of one cue', `0:0-->0:1\n${repeated('a\n', 6_000_000)}`],
		['arrows', repeated('-->', 2_000_000)],
		['a quote that does not end', `["${repeated('\\"', 2_000_000)}`],
	])('%s', (_, text) => {
		expect(transcriptOf(text)).toBeUndefined();
	});

	test("n8n's event loop has its turn before each part", () => {
		const parts = Array.from({ length: 5 }, () => ({ text: USUAL, start: 0, end: 1 }));
		expect([...captions.mergeTranscripts('srt', parts)]).toHaveLength(5);
	});

	test.each([
		['many cues', '0:0-->0:1\na\n'.repeat(10_000)],
		['many segments', `[${Array(10_000).fill('{"start":0,"end":1,"text":"a"}').join()}]`],
	])('... and amid one of %s', (_name, text) => {
		expect([...captions.transcriptOf(text)].length).toBeGreaterThan(9);
		const part = { text, start: 0, end: 1 };
		const extension = text.startsWith('[') ? 'json' : 'srt';
		expect([...captions.mergeTranscripts(extension, [part])].length).toBeGreaterThan(9);
	});
});

describe('merging SRT', () => {
	test('numbered again, shifted by where each part begins', () => {
		const result = merge('srt', [
			{ text: USUAL, start: 0, end: 3.3 },
			{ text: `\ufeff${USUAL.replaceAll('\n', '\r\n')}`, start: 3.8041, end: 7.2 },
		]);
		const shifted = CUES.map(({ start, end, text }) => ({
			start: start + 3.804,
			end: end + 3.804,
			text,
		}));
		expect(result).toEqual({ text: [...CUES, ...shifted].map(writeCue).join('\n') });
		expect('text' in result && result.text).toMatch(
			/^1\n00:00:00,000 --> [^]*\n\n4\n00:00:05,304 --> /,
		);
	});
});

describe('timed words', () => {
	const word = (text: string, start: number, end: number) => ({ text, start, end, type: 'word' });
	/** Words from each of these times to the next. */
	const segmentsOf = (...[a = 0, b = 0, c = 0, d = 0, e = 0, f = 0]: number[]) => [
		{
			text: 'Once upon',
			speaker: 'one',
			words: [word('Once', a, b), { ...word(' ', b, c), type: 'spacing' }, word('upon', c, d)],
		},
		{ text: 'a time.', words: [word('a', d, e), word('time.', e, f)] },
	];
	const SEGMENTS = segmentsOf(0, 0.4, 0.5, 1.1, 1.2, 1.999);
	const JSON_TEXT = JSON.stringify(SEGMENTS);

	test.each([
		['in milliseconds', JSON.stringify([{ text: 'a', start: 1_200, end: 1_900 }]), / not seconds /],
		['by other names', '[{"words":[{"text":"a","start_time":1}]}]', /not a list of timed words/],
	])('%s are not moved, and the reason says so', (_name, text, reason) => {
		const merged = merge('json', [{ text, start: 0, end: 2 }]);
		expect(merged).toMatchObject({
			reason: expect.stringMatching(reason) as string,
		});
	});

	test('of a part without a word leave the others', () => {
		const merged = merge('json', [
			{ text: '', start: 0, end: 1 },
			{ text: '[{"text":"a","start":0,"end":1}]', start: 1, end: 2 },
		]);
		expect(merged).toEqual({ text: '[{"text":"a","start":1,"end":2}]' });
	});

	test('shifted, and everything else kept', () => {
		const result = merge('json', [
			{ text: JSON_TEXT, start: 0, end: 2 },
			{ text: `\ufeff${JSON_TEXT}`, start: 2.6122, end: 4 },
		]);
		const merged = JSON.parse('text' in result ? result.text : '[]') as typeof SEGMENTS;
		expect(merged.slice(0, 2)).toEqual(SEGMENTS);
		expect(merged.slice(2)).toEqual(segmentsOf(2.612, 3.012, 3.112, 3.712, 3.812, 4));
	});

	test('what was said when, of SRT and of JSON', () => {
		expect(transcriptOf(USUAL)).toEqual(CUES);
		expect(transcriptOf(`\ufeff \n${JSON_TEXT}`)).toEqual([
			{ text: 'Once upon', start: 0, end: 1.1 },
			{ text: 'a time.', start: 1.1, end: 1.999 },
		]);
		expect(transcriptOf('[{"text":"Hi","start":1,"end":2}]')).toEqual([
			{ text: 'Hi', start: 1, end: 2 },
		]);
		expect(transcriptOf('')).toEqual([]);
		expect(transcriptOf('[]')).toEqual([]);
		expect(transcriptOf('{"error":"expired"}')).toBeUndefined();
	});

	const untimed = { text: 'b c', words: [{ text: 'b' }, { text: 'c', start: 1 }] };
	test.each<[string, unknown, unknown]>([
		['words alone', { words: [word('a', 0, 1), { word: 'b', end: 2 }] }, ['a b', 0, 2]],
		['its own beginning', { text: 'a', start: 0.5, words: [word('a', 1, 2)] }, ['a', 0.5, 2]],
		['its own end', { text: 'a', end: 3, words: [word('a', 1, 2)] }, ['a', 1, 3]],
		['an end before its beginning', { text: 'a', start: 2, end: 1 }, ['a', 2, 2]],
		['words that never end', untimed, []],
		['no end, and no words', { text: 'a', start: 1 }, []],
		['a text that is a number', { text: 5, words: [] }, []],
		['one of several that is none', [{ text: 'a', start: 0, end: 1 }, 7], undefined],
	])('a segment with %s', (_name, value, expected) => {
		const read = transcriptOf(JSON.stringify(value));
		expect(read?.flatMap(({ text, start, end }) => [text, start, end])).toEqual(expected);
	});
});
