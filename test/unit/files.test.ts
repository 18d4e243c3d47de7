import fc from 'fast-check';
import { baseNames, sanitizeName } from '../../nodes/MediaGeneration/delivery/files';
import { anyCodePoint } from './codePoint';
import type { OutputKind } from '../../nodes/MediaGeneration/service/outputs';

const outputs = (...kinds: OutputKind[]) =>
	kinds.map((kind, index) => ({ url: `https://f/${index}`, kind }));

test.each([
	['task-1', 'task-1'],
	['a b/c\\d', 'a_b_c_d'],
	['../../etc/passwd', 'etc_passwd'],
	['', 'file'],
	['Grüße_日本', 'Grüße_日本'],
	['u\u0308', 'ü'],
	['a\0b\r\nc', 'a_b_c'],
	['x\ud800y', 'x_y'],
	['a"b:c*d?e<f>g|h', 'a_b_c_d_e_f_g_h'],
])('%j becomes %j', (text, expected) => {
	expect(sanitizeName(text)).toBe(expected);
});

test('names have at most 200 bytes with their extension, and are cut between characters', () => {
	expect(sanitizeName('x'.repeat(500))).toBe('x'.repeat(195));
	expect(sanitizeName('𝒜'.repeat(500))).toBe('𝒜'.repeat(48));
	expect(sanitizeName('日'.repeat(500))).toBe('日'.repeat(65));
	expect(sanitizeName(`${'x'.repeat(194)}q\u0323\u0307`)).toBe('x'.repeat(194));
	expect(sanitizeName(`${'x'.repeat(194)}.abc`)).toBe('x'.repeat(194));
	// 961 bytes once.
	const [first = '', second = ''] = baseNames(outputs('image', 'image'), {
		type: '声'.repeat(200),
		taskId: '図'.repeat(200),
	});
	expect(Buffer.byteLength(`${second}.webp`)).toBeLessThanOrEqual(200);
	expect([first.slice(-2), second.slice(-2)]).toEqual(['-1', '-2']);
});

test('whatever a name is made of, it is one, and not too long', () => {
	const text = fc.string({ unit: anyCodePoint, maxLength: 400 });
	fc.assert(
		fc.property(text, text, text, (type, taskId, fileName) => {
			const names = baseNames(outputs('audio', 'image', 'image'), { type, taskId, fileName });
			for (const name of names) {
				expect(Buffer.byteLength(name)).toBeLessThanOrEqual(195);
				expect(name).toMatch(/^[^._/\\\s\p{M}][^/\\\s\p{Cc}]*$/u);
				expect(name).not.toMatch(/\p{Surrogate}/u);
			}
			expect(new Set(names).size).toBe(3);
		}),
		{ numRuns: 200 },
	);
});

test.each<[string, OutputKind[], string | undefined, string[]]>([
	['one file', ['audio'], 'sound_effect', ['sound_effect-t1']],
	['no type', ['audio'], undefined, ['audio-t1']],
	['several pictures', ['image', 'image'], 'image', ['image-t1-1', 'image-t1-2']],
	[
		'speech with transcripts, which differ by extension',
		['audio', 'transcript', 'transcript'],
		'speech',
		['speech-t1', 'speech-t1', 'speech-t1'],
	],
])('%s', (_name, kinds, type, expected) => {
	expect(baseNames(outputs(...kinds), { type, taskId: 't1' })).toEqual(expected);
});

test.each<[string, string, string[]]>([
	['a name', 'Chapter 1', ['Chapter_1', 'Chapter_1_1', 'Chapter_1_2']],
	['a path', '../../etc/passwd', ['etc_passwd', 'etc_passwd_1', 'etc_passwd_2']],
	[
		'a name that is too long',
		'x'.repeat(300),
		['x'.repeat(195), `${'x'.repeat(193)}_1`, `${'x'.repeat(193)}_2`],
	],
	['spaces', '  ', ['speech-t1', 'speech-t1', 'speech-t1']],
])('files named by the user: %s', (_name, fileName, expected) => {
	const files = outputs('audio', 'transcript', 'transcript');
	expect(baseNames(files, { type: 'speech', taskId: 't1', fileName })).toEqual(expected);
});
