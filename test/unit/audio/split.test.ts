/** Cutting texts: what is lost, doubled or torn apart here is paid for and never heard. */
import fc from 'fast-check';
import { anyCodePoint } from '../codePoint';
import { atOnce } from '../../support/work';
import * as split from '../../../nodes/MediaGeneration/audio/split';

const splitText = (text: string, maxCharacters: number) =>
	atOnce(split.splitText(text, maxCharacters));

fc.configureGlobal({ seed: 20_261_121, numRuns: 120 });
afterAll(() => fc.resetConfigureGlobal());

const withoutSpaces = (text: string) => text.replace(/\s+/g, '');

/** Every part stands in the text, one after the other; what lies between two of them. */
function gaps(text: string, parts: readonly string[]): string[] {
	let at = 0;
	const between = parts.map((part) => {
		const found = text.indexOf(part, at);
		if (found < at) throw new Error(`A part that is not in the text: ${part}`);
		const gap = text.slice(at, found);
		at = found + part.length;
		return gap;
	});
	return [...between, text.slice(at)];
}

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** Graphemes of the text that two parts share. */
function tornGraphemes(text: string, parts: readonly string[]): string[] {
	const ends = new Set<number>();
	let count = 0;
	for (const part of parts) ends.add((count += withoutSpaces(part).length));
	let at = 0;
	return [...graphemes.segment(text)].flatMap(({ segment }) => {
		const begin = at;
		at += withoutSpaces(segment).length;
		return [...ends].some((end) => end > begin && end < at) ? [segment] : [];
	});
}

const anyCharacter = fc.oneof(
	{ weight: 4, arbitrary: fc.constantFrom(' ', ' ', '\n', '\r\n', '\t', '\u00a0', '\u3000') },
	{
		weight: 4,
		arbitrary: fc.constantFrom('.', '!', '?', '…', ',', ';', '"', '”', ')', '—', '。', '、'),
	},
	{ weight: 6, arbitrary: fc.constantFrom('a', 'B', 'Dr', 'z', '3', 'word', 'Satz', 'ß', 'é') },
	{ weight: 2, arbitrary: fc.constantFrom('今', '天', 'こ', 'ภา', 'ษา', 'क्षि', '한', 'ا') },
	{ weight: 2, arbitrary: fc.constantFrom('👨‍👩‍👧‍👦', '🇩🇪', '👍🏽', 'e\u0301', '\u0301', '\u200d', '😀') },
	{ weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 3 }) },
	{ weight: 1, arbitrary: fc.string({ unit: anyCodePoint, maxLength: 2 }) },
);
const anyText = fc
	.array(anyCharacter, { maxLength: 300, size: 'max' })
	.map((characters) => characters.join(''));

describe('whatever the text is', () => {
	test('nothing is lost or doubled, and no part is longer than allowed or empty', () => {
		fc.assert(
			fc.property(anyText, fc.integer({ min: 3, max: 120 }), (text, maxCharacters) => {
				const parts = splitText(text, maxCharacters);
				expect(parts.filter((part) => part.length > maxCharacters)).toEqual([]);
				expect(parts.filter((part) => part === '' || part !== part.trim())).toEqual([]);
				expect(gaps(text, parts).join('').trim()).toBe('');
			}),
		);
	});

	test('no grapheme is torn that fits into a part', () => {
		fc.assert(
			fc.property(anyText, fc.integer({ min: 50, max: 120 }), (text, maxCharacters) => {
				const torn = tornGraphemes(text, splitText(text, maxCharacters));
				expect(torn.filter((grapheme) => grapheme.length <= maxCharacters)).toEqual([]);
			}),
		);
	});

	test('sentences that fit are never cut, and no part is tiny', () => {
		const sentence = fc
			.array(fc.constantFrom('one', 'other', 'words', 'follow', 'it'), {
				minLength: 1,
				maxLength: 8,
			})
			.map((words) => `The ${words.join(' ')}.`);
		const book = fc.array(sentence, { minLength: 30, maxLength: 120, size: 'max' });
		fc.assert(
			fc.property(book, fc.integer({ min: 300, max: 600 }), (sentences, maxCharacters) => {
				const parts = splitText(sentences.join(' '), maxCharacters);
				expect(parts.flatMap((part) => part.match(/The [^.]*\./g))).toEqual(sentences);
				expect(parts.filter(({ length }) => length < maxCharacters / 3)).toEqual([]);
				const fewest = Math.ceil(sentences.join(' ').length / maxCharacters);
				expect(parts.length).toBeLessThanOrEqual(Math.ceil(fewest * 1.25) + 1);
			}),
		);
	});
});

describe('where it is cut', () => {
	const sentence = (words: number, first = 'The') => `${first} ${'words '.repeat(words).trim()}.`;

	test('a text that fits stays whole, without the spaces around it', () => {
		expect(splitText('  One line.\n\nAnother.\n', 50)).toEqual(['One line.\n\nAnother.']);
		expect(splitText('x'.repeat(50), 50)).toEqual(['x'.repeat(50)]);
		expect(splitText(' \n\t\u3000\r\n', 50)).toEqual([]);
		expect(splitText('', 50)).toEqual([]);
	});

	test('even parts instead of a full one and a tiny one', () => {
		const text = Array.from({ length: 22 }, () => sentence(4)).join(' ');
		// 22 sentences of 28 characters and a space: 637 characters.
		expect(splitText(text, 600).map(({ length }) => length)).toEqual([318, 318]);
	});

	test('at a paragraph, even where a sentence would be a little more even', () => {
		// Cut at the paragraph: 39 and 50 characters; at the first sentence after it: 45 and 46.
		const first = sentence(5, 'All other');
		const second = `Yes. ${sentence(7, 'All')}`;
		for (const gap of ['\n\n', '\r\n \r\n', '\n'])
			expect(splitText(first + gap + second, 60)).toEqual([first, second]);
		expect(splitText(`${first} ${second}`, 60)).toEqual([`${first} Yes.`, second.slice(5)]);
	});

	// Where each is cut: at the end of a sentence if there is one, and at no full stop within one.
	test.each([
		...[
			'We all went to see old Mr. Brown of Dr. Smith.| They had much to say about it all.',
			'This is a book that J. R. R. Tolkien wrote.| It has been read by many people since.',
			'He had to pay 3.14 per cent more than that.| It was version 2.0.1 of his own plan.',
			'Am 3. Mai kam er mit dem 1. Zug in die Stadt.| Er blieb bis zum 5. Juni dieses Jahres.',
			'Da sind z. B. Hunde bzw. Katzen usw. in dem Haus.| Auch u. a. Pferde im Stall mit Nr. 5.',
			'He looked at them all and said "Stop!" to us.| "Why?" they asked. "Because!" he said.',
			'All the people who were there cried "Stop!" (so we heard).| They went on all the same, too.',
			'She came in the end (as she said that she would!).| We were glad of it, and so was she.',
			'She was not sure... Perhaps it would be best.| He did not know... But he would see it.',
			'It was late… Perhaps it would be best to go with them.| They did not want to come with us.',
			'The words of this sentence are wrapped\nafter some of them.| Another sentence follows.',
			'One chapter ends with these few words\r  \r|Another chapter begins with some others here',
			'He said “It is late...” Perhaps it was best to go now.| They did not want to come with us.',
		].map((text) => [60, text] as const),
		[24, '今天天气很好，我们去公园散步吧。|你想不想一起去？我觉得很好玩！'] as const,
		[24, '他说：“我们去公园散步吧。”|你想不想一起去？（我觉得很好玩！）他笑了。'] as const,
		[24, '他说「我们去公园散步。」|你想不想一起去呢，我们走吧'] as const,
		[24, 'こんにちは。今日はとてもいい天気です。|散歩に行きましょう。'] as const,
		[24, 'नमस्ते आप कैसे हैं।| मैं ठीक हूँ और आप।| हम कल बाज़ार जाएँगे।'] as const,
		[24, 'مرحبا بكم في هذا المكان.| كيف حالك اليوم؟| أنا بخير والحمد لله.'] as const,
	])('at most %d characters: %s', (most, text) => {
		const parts = text.split('|').map((part) => part.trim());
		expect(splitText(text.replaceAll('|', ''), most)).toEqual(parts);
	});

	test.each([
		['of pairs', '\u{1d165}'.repeat(100)],
		['with one pair', `${'\u0301'.repeat(48)}\u{1d165}${'\u0301'.repeat(30)}`],
	])(
		'a single grapheme that is longer than a part ends up in several, no character torn: %s',
		(_, marks) => {
			const parts = splitText(`a${marks}`, 50);
			expect(parts.join('')).toBe(`a${marks}`);
			for (const part of parts) expect(part.length).toBeLessThanOrEqual(50);
			expect(parts.join('|')).not.toMatch(/[\ud800-\udbff]\|/);
		},
	);
});

describe('tags', () => {
	const tag = fc.constantFrom(
		'<break time="1.5s" />',
		'[whispers softly]',
		'[laughs. Then, after a while: silence!]',
		'<phoneme alphabet="ipa" ph="ˈæktʃuəli. a">',
		'<speak>',
		'</speak>',
		'[今天天气很好。我们去公园散步吧]',
		'<say-as\ninterpret-as="date">',
	);

	test('are never cut, wherever they stand', () => {
		const words = fc.constantFrom(
			'one',
			'two.',
			'three,',
			'今天很好。',
			'\n\n',
			' ',
			' ',
			' ',
			'<',
			'[',
		);
		const text = fc
			.array(fc.oneof(tag, words), { maxLength: 80, size: 'max' })
			.map((all) => all.join(''));
		fc.assert(
			fc.property(text, fc.integer({ min: 50, max: 150 }), (given, maxCharacters) => {
				const parts = splitText(given, maxCharacters);
				expect(parts.filter((part) => part.length > maxCharacters)).toEqual([]);
				expect(gaps(given, parts).join('').trim()).toBe('');
				const tags = (all: string) => all.match(/<[^<>]+>|\[[^[\]]+\]/g) ?? [];
				expect(parts.flatMap(tags)).toEqual(tags(given));
			}),
		);
	});

	test.each<[string, string, string[]]>([
		[
			'at the best place in it, before it',
			'We waited for him. <break time="1. 5. s" /> He came, and went.',
			['We waited for him.', '<break time="1. 5. s" /> He came, and went.'],
		],
		[
			'where only a bracket stands, as ever',
			'He said that 3 < 4 is true, as everybody knows. Then he left us all.',
			['He said that 3 < 4 is true, as everybody knows.', 'Then he left us all.'],
		],
	])('%s', (_name, text, parts) => {
		expect(splitText(text, 50)).toEqual(parts);
	});

	test('that do not fit into a part, or are no tags, are cut like any text', () => {
		// The last one has 48 code points, of two characters each.
		for (const long of ['word '.repeat(30), '😀'.repeat(46)])
			for (const part of splitText(`Then: [${long}] and more`, 50))
				expect(part.length).toBeLessThanOrEqual(50);
		const open = `<${'word '.repeat(200)}`;
		expect(splitText(open, 100).length).toBeLessThan(15);
		const wide = `<${'word. '.repeat(100)}>`;
		expect(splitText(wide.repeat(3), 700).length).toBe(3);
	});
});

describe('long texts', () => {
	const book = (length: number, sentences: string) =>
		sentences.repeat(Math.ceil(length / sentences.length)).slice(0, length);

	// Whatever grows with the square of the length does not end within a test's time.
	test.each([
		['prose', 'The quick brown fox, as they say, jumps over the lazy dog. '],
		['one grapheme', '\u0301'],
		['brackets that open', '<['],
	])('200,000 characters of %s', (_, unit) => {
		const text = `Hello${book(200_000, unit)}world`;
		const parts = splitText(text, 2500);
		expect(withoutSpaces(parts.join(''))).toBe(withoutSpaces(text));
		expect(Math.max(...parts.map((part) => part.length))).toBeLessThanOrEqual(2500);
	});

	test.each([
		['one for each part', '今天天气很好我们去公园散步吧', 50, 3_000],
		['several for a part that is long itself', 'a few short words ', 100_000, 20],
	])("n8n's event loop has its turns: %s", (_, words, maxCharacters, least) => {
		const turns = [...split.splitText(book(200_000, words), maxCharacters)];
		expect(turns.length).toBeGreaterThanOrEqual(least);
	});
});
