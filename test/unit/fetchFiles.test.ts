/** Names of files: whatever a text is made of, it becomes one that every file system takes. Files of several hosts: none holds up others. */
import fc from 'fast-check';
import { fetchFiles } from '../../nodes/MediaGeneration/files/fetchFiles';
import { baseNameOf } from '../../nodes/MediaGeneration/files/fileNames';
import { anyCodePoint } from './codePoint';
import { FILE, host } from './scriptedHost';

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

test('slow files hold up those of other hosts not at all, and those of their own for a minute', async () => {
	const slow = {
		body: Buffer.concat([FILE, Buffer.alloc(64_000 * 60)]),
		chunkBytes: 64_000,
		gapMs: 59_000,
	};
	const { clock, deps, requests } = host((count) =>
		requests[count - 1]?.endsWith('slow') ? slow : {},
	);
	const [began, fetchDeps] = [clock.now(), { ...deps, slots: new Map() }];
	const fetched = async (name: string, count: number) => {
		const url = (number: number) => `https://${name}`.replace('#', String(number));
		const outputs = Array.from({ length: count }, (_, number) => ({
			url: url(number),
			kind: 'file' as const,
		}));
		const files = await fetchFiles(outputs, { maxBytes: 1e9, baseName: 'a' }, fetchDeps);
		expect(files.map(({ problem }) => problem)).toEqual(outputs.map(() => undefined));
		return clock.now() - began;
	};
	const slowOnes = fetched('slow.example/#slow', 6);
	const others = [fetched('slow.example/#', 1), fetched('quick.example/#', 9)];
	const [ofSlowHost, ofOther] = await clock.run(Promise.all(others));
	expect(ofOther).toBeLessThan(1_000);
	expect(ofSlowHost).toBeLessThan(61_000);
	expect(await clock.run(slowOnes)).toBeGreaterThan(50 * 60_000);
	expect(clock.sleeping).toBe(0);
});
