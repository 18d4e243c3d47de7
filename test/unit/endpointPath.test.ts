/** Which paths "Task: Create" may post to: those under the Base URL, and nothing that could lead elsewhere. */
import fc from 'fast-check';
import { anyCodePoint } from './codePoint';
import { endpointPath } from '../../nodes/MediaGeneration/actions/tasks';
import { attempt } from '../../nodes/MediaGeneration/base/outcomes';
import { refusalOf } from './itemFields';

test.each([
	['/v1m/task/music-generation', '/v1m/task/music-generation'],
	['  /v1/task/dubbing  ', '/v1/task/dubbing'],
	['/v1/text-to-speech/a voice', '/v1/text-to-speech/a%20voice'],
	['/v1/text-to-speech/Stimme-ä', '/v1/text-to-speech/Stimme-%C3%A4'],
	['/v1/models/some:model@2/task', '/v1/models/some:model@2/task'],
])('%j becomes %j', (given, expected) => {
	expect(endpointPath(given)).toBe(expected);
});

test.each<[string, RegExp]>([
	['v1/task/x', /does not begin with exactly one slash/],
	['//elsewhere.example/v1/task', /does not begin with exactly one slash/],
	['/\\elsewhere.example/v1/task', /a backslash/],
	['/v1/../admin', /the part "\.\."/],
	['/v1/task?x=1', /a question mark, /],
	['/v1/task#x', /a number sign/],
	['/v1/a\nb', /a control character/],
	['/v1/a%2Fb', /the escape "%2F"/],
	['/v1/100% a', /the escape "%"/],
])('%j is refused', (given, words) => {
	const { message, description } = refusalOf(() => endpointPath(given));
	expect(message).toMatch(/^The field 'Path' can't be used: /);
	expect(message).toMatch(words);
	expect(description).toMatch(/e\.g\. \/v1m\/task\/music-generation/);
});

test('whatever is accepted stays under the Base URL, also after normalisation', () => {
	const piece = fc.oneof(
		fc.constantFrom(
			...['/', '.', '..', '%2e', '%2F', '%5c', '\\', '?', '#', '@', ':', '//', 'v1', '%25'],
			...['%%32e', '%25%32%65', '%2%35%32e', '%%35c'],
		),
		fc.string({ unit: anyCodePoint, maxLength: 4 }),
	);
	fc.assert(
		fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
			const read = attempt(() => endpointPath(`/${pieces.join('')}`));
			if (!read.ok) {
				expect(read.failure.message).toMatch(/^The field 'Path' /);
				return;
			}
			const path = read.value;
			const url = new URL(`https://api.example.com/base${path}`);
			expect(url.href).toBe(`https://api.example.com/base${path}`);
			expect(url.search + url.hash).toBe('');
			// A server may decode twice, and half an escape with it.
			const once = decoded(url.pathname);
			for (const seen of [url.pathname, once, decoded(once)]) {
				const parts = seen.split(/[/\\;]/);
				expect(parts).not.toContain('..');
				expect(parts).not.toContain('.');
			}
		}),
	);
});

const decoded = (path: string) =>
	path.replace(/%([\da-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
