/** Names of files: whatever a text is made of, it becomes one that every file system takes. */
import fc from 'fast-check';
import { baseNameOf } from '../../nodes/MediaGeneration/files/files';
import { anyCodePoint } from './codePoint';

test.each<[string, string | undefined]>([
	['Mein Kapitel – Größe 1.mp3', 'Mein Kapitel – Größe 1'],
	['  Chapter  1\n', 'Chapter 1'],
	['Folge 2: Wer? Wo? "Da!"', 'Folge 2_ Wer_ Wo_ _Da!_'],
	['../../etc/passwd', '.._.._etc_passwd'],
	['a\\b|c*d<e>f', 'a_b_c_d_e_f'],
	['…und dann', '…und dann'],
	['第三章 灯台', '第三章 灯台'],
	['u\u0308ber', 'über'],
	['\u0301\u0301a', 'a'],
	['a\0b\x1b[2Jc\u2028d', 'a_b_[2Jc d'],
	['invoice\u202egnp.exe', 'invoice_gnp.exe'],
	['x\ud800y', 'x_y'],
	['The end.', 'The end'],
	['song.WAV ', 'song'],
	['picture.jpeg', 'picture'],
	['subtitles.srt', 'subtitles'],
	['v1.2', 'v1.2'],
	['notes.txt', 'notes.txt'],
	['data.json', 'data'],
	['', undefined],
	[' . ', undefined],
	['.mp3', undefined],
])('%j becomes %j', (text, expected) => {
	expect(baseNameOf(text)).toBe(expected);
});

test('a name leaves room for numbers and an extension, and is cut between characters', () => {
	expect(baseNameOf('x'.repeat(500))).toBe('x'.repeat(185));
	expect(baseNameOf('𝒜'.repeat(500))).toBe('𝒜'.repeat(46));
	expect(baseNameOf('日'.repeat(500))).toBe('日'.repeat(61));
	expect(baseNameOf(`${'x'.repeat(184)}q\u0323\u0307`)).toBe('x'.repeat(184));
	// Of a text that has no end no more than this is looked at.
	const behind = [1_999, 2_000].map((length) => baseNameOf(`${' '.repeat(length)}x`));
	expect(behind).toEqual(['x', undefined]);
});

test('whatever a name is made of, it is one', () => {
	fc.assert(
		fc.property(fc.string({ unit: anyCodePoint, maxLength: 400 }), (text) => {
			const stem = baseNameOf(text) ?? 'file';
			expect(Buffer.byteLength(stem)).toBeLessThanOrEqual(185);
			expect(stem).toMatch(/^[^\s\p{M}/\\\p{Cc}][^/\\:*?"<>|\p{Cc}]*$/u);
			expect(stem).toMatch(/[^. ]$/);
			expect(stem).not.toMatch(/\p{Surrogate}/u);
		}),
		{ numRuns: 200 },
	);
});
