/** Where a text may be cut: each place, and how good it is. */
import { FINER, sentencePlaces, trimmed } from '../../../nodes/MediaGeneration/media/cuts';

/** The text with `|` where a sentence begins and `¶` where a paragraph does. */
function marked(text: string): string {
	const places = [...sentencePlaces(text)];
	return places.reduceRight(
		(sum, { at, cut }) => `${sum.slice(0, at)}${cut === 'paragraph' ? '¶' : '|'}${sum.slice(at)}`,
		text,
	);
}

/** The text with `|` where it may be cut by one of the finer kinds. */
function cutBy(kind: string, text: string, stride = 1): string {
	const way = FINER.find(({ cut }) => cut === kind);
	const places = [...(way?.places(text, { from: 0, to: text.length }, stride) ?? [])];
	return places.reduceRight((sum, at) => `${sum.slice(0, at)}|${sum.slice(at)}`, text);
}

describe('paragraphs and sentences', () => {
	test.each([
		['sentences', 'One came. |Two went! |Who stayed? |Nobody'],
		['paragraphs', 'One.\n\n¶Two.\n \t\n¶Three'],
		['paragraphs of Windows', 'One.\r\n\r\n¶Two.\r\n \r\n¶Three'],
		['paragraphs of old Macs, page breaks, separators', 'One.\r\r¶Two.\f¶Three.\u2029¶Four'],
		['paragraphs without a full stop', 'A title\n\n¶Another\n\n\n¶Text'],
		['a blank line with spaces after no full stop', 'A title\n \t\n¶Another\r\n \r\n¶Text'],
		['indented lines', 'One came.\n\t¶Two went.\n  ¶Three'],
		['a line that ends a sentence', 'One came.\n¶Two went.\r\n¶Three'],
		['wrapped lines', 'The words of a\nsentence are wrapped.\n¶Here,\r\ntoo'],
		['titles', 'Dr. Brown and Mrs. Smith met Prof. Jones. |They talked'],
		['companies and streets', 'Brown Inc. Was there, at Main St. Number five. |It was closed'],
		['initials', 'J. R. R. Tolkien and the U.S. Army. |Nobody else'],
		[
			'in other languages',
			'Es gibt z. B. Hunde bzw. Katzen. |Mme. Durand aime la Sra. García. |Sim',
		],
		['numbers', 'It is 3.14 or 2.0.1, not .5 of it. |In 2024. |In 1999'],
		['ordinals', 'Am 3. Mai kam der 12. Zug. |Er fuhr'],
		['lists', '1. First came one.\n¶2. Second came two.\n¶3. Third'],
		['quoted sentences', '“I will not.” |“You will!” |(So they said.) |And went'],
		['what was said by whom', '"Stop!" he said. |"Why?" asked she, "Now?" and left. |Silence'],
		['ellipses', 'Wait... |What'.replace('|', '')],
		['ellipses of other kinds', 'So… Then. . . And then.. Well. |Good'],
		['Chinese', '今天天气很好，我们去吧。|“你想去吗？”|好！'],
		['Japanese', '「こんにちは。」|今日はいい天気です。|はい'],
		['Hindi, Arabic, Greek', 'नमस्ते। |आप कैसे हैं? |كيف حالك؟ |جيد. |Τι κάνεις; Καλά'],
		['words that end like an abbreviation', 'They took part. |It was 12ft. |See page 3a. |Then go'],
		['abbreviations in capitals', 'DR. Brown and MRS. Smith. |They talked'],
		['numbers of three digits', 'Zimmer 123. Stock, Nummer 1234. |Dann'],
		['numbers that are no ordinals', 'Version 2.0. |It has 1,500. |Size A4. |Then'],
		['ellipses before what closes', 'He said (well...) “So…” Then. |Good'],
		['several marks that close', '“(Go!)” |Then she said "No!\'" |And went'],
		['what goes on after marks', 'Stop! (he said) and “Why? ‘who knows’ came.” |Then'],
		['what begins after marks', 'Stop! |(He said.) |¿Qué? |¡Sí!'],
		['nothing', 'no end in sight'],
		['spaces at the end', 'One.  \n\n '],
		['a mark on a space', 'One. \u0301Two. |Three'],
		['a mark on a space that begins a line', 'One.\n \u0301Two. |Three'],
		['a mark on nothing', '\u0301One. |Two'],
	])('%s', (_, text) => {
		expect(marked(text.replaceAll(/[|¶]/g, ''))).toBe(text);
	});

	test.each([1, 2, 3, 5, 8, 13])(
		'windows make no difference to a long text (%d sentences between paragraphs)',
		(each) => {
			// What decides whether "so on." ends a sentence comes later than the window's end, somewhere.
			const sentences = Array.from({ length: 600 }, (_, index) =>
				index % 2 === 1
					? `Number ${index} and so on. (1234567890) goes on. |`
					: `Sentence ${index} ends here. |`,
			);
			const text = sentences
				.map((sentence, index) =>
					index % each === each - 1 ? sentence.replace(' |', '\n\n¶') : sentence,
				)
				.join('')
				.replace(/(?: \||\n\n¶)$/, '');
			expect(marked(text.replaceAll(/[|¶]/g, ''))).toBe(text);
		},
	);

	test('a sentence longer than any window', () => {
		const text = `It ${'goes on and '.repeat(2000)}ends. |Another one`;
		expect(marked(text.replace('|', ''))).toBe(text);
	});
});

describe('finer places', () => {
	test.each([
		['commas and the like', 'One, |two; |three: |four (five) |six – |seven… |eight.. |nine'],
		['closing quotes', 'He said “yes,” |and “no” and left'],
		['numbers and addresses', '3,141 or 12:30 at https://example.com/a,b'],
		['lines', 'one\n|two\n  \n|three'],
		['scripts without spaces', '今天，|我们、|去；|吧。|“好！”|是'],
		['Arabic', 'واحد، |اثنان؛ |ثلاثة'],
		['a mark on a space', 'one, \u0301two'],
	])('clauses: %s', (_, text) => {
		expect(cutBy('clause', text.replaceAll('|', ''))).toBe(text);
	});

	test('spaces', () => {
		expect(cutBy('space', 'one two\u00a0\t three\nfour \u0301five ')).toBe(
			'one |two\u00a0\t |three\n|four \u0301five ',
		);
	});

	test('words, but not what stands between them', () => {
		expect(cutBy('word', 'one,two... three')).toBe('one,|two... |three');
		expect(cutBy('word', '你好，世界！')).toBe('你好，|世界！');
	});

	test('words in strides', () => {
		expect(cutBy('word', 'aa,bb,cc,dd,ee,ff,gg', 6)).toBe('aa,bb,|cc,dd,|ee,ff,|gg');
	});

	test('graphemes', () => {
		expect(cutBy('grapheme', 'ae\u0301👨‍👩‍👧‍👦🇩🇪🇫🇷한')).toBe('a|e\u0301|👨‍👩‍👧‍👦|🇩🇪|🇫🇷|한');
	});

	test.each([1, 7, 100, 3000])('graphemes of a text longer than any window, %d apart', (stride) => {
		const family = '👨‍👩‍👧‍👦';
		const parts = cutBy('grapheme', family.repeat(1000), stride).split('|');
		expect(parts.join('')).toBe(family.repeat(1000));
		for (const part of parts) expect(part.replaceAll(family, '')).toBe('');
		expect(parts.length).toBeGreaterThan((family.length * 1000) / (stride + 2 * family.length));
	});
});

test.each([
	['spaces around', ' a\n', { from: 0, to: 3 }, { from: 1, to: 2 }],
	['spaces within and outside', ' a b ', { from: 1, to: 4 }, { from: 1, to: 4 }],
	['spaces alone, and more of them outside', '    ', { from: 1, to: 3 }, { from: 3, to: 3 }],
])('a range without the spaces at its ends: %s', (_, text, range, expected) => {
	expect(trimmed(text, range)).toEqual(expected);
});
