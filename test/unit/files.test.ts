import { baseNames, sanitizeName } from '../../nodes/MediaGeneration/delivery/files';
import type { OutputKind } from '../../nodes/MediaGeneration/service/outputs';

test.each([
	['task-1', 'task-1'],
	['a b/c\\d', 'a_b_c_d'],
	['../../etc/passwd', 'etc_passwd'],
	['..', 'file'],
	['', 'file'],
	['...hidden...', 'hidden'],
	['Grüße_日本', 'Grüße_日本'],
	['u\u0308', 'ü'],
	['a\0b\r\nc', 'a_b_c'],
	['x\ud800y', 'x_y'],
	['a"b:c*d?e<f>g|h', 'a_b_c_d_e_f_g_h'],
])('%j becomes %j', (text, expected) => {
	expect(sanitizeName(text)).toBe(expected);
});

test('long names are cut, not within a letter', () => {
	expect(sanitizeName('x'.repeat(500))).toHaveLength(120);
	expect(sanitizeName('𝒜'.repeat(500))).toBe('𝒜'.repeat(120));
	expect(sanitizeName(`${'x'.repeat(119)}.abc`)).toBe('x'.repeat(119));
});

const outputs = (...kinds: OutputKind[]) =>
	kinds.map((kind, index) => ({ url: `https://f/${index}`, kind }));

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
	['a hostile type', ['file'], '../x', ['x-t1']],
])('%s', (_name, kinds, type, expected) => {
	expect(baseNames(outputs(...kinds), type, 't1')).toEqual(expected);
});
