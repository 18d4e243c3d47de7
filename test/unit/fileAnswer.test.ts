/** What the headers of a file host's answer say, and what is not believed of them. */
import {
	partOf,
	refuseEncoding,
	strongValidator,
} from '../../nodes/MediaGeneration/files/fileAnswer';

type Headers = Record<string, unknown>;
const DATED: Headers = {
	'last-modified': 'Wed, 21 Oct 2026 07:28:00 GMT',
	date: 'Fri, 23 Oct 2026 07:28:00 GMT',
};
test.each<[string, Headers, string | undefined]>([
	['a strong ETag', { etag: '"v1"' }, '"v1"'],
	['a weak ETag, also beside an old date', { etag: 'W/"v1"', ...DATED }, undefined],
	['an ETag without quotes', { etag: 'v1' }, undefined],
	['a date', DATED, undefined],
	['nothing', {}, undefined],
])('%s as a validator', (_name, headers, expected) => {
	expect(strongValidator(headers)).toBe(expected);
});

test.each<[string, Headers]>([
	['none', {}],
	['an empty one', { 'content-encoding': '' }],
	['identity', { 'content-encoding': 'Identity' }],
])('an encoding is taken where it changes nothing: %s', (_name, headers) => {
	expect(() => refuseEncoding(headers)).not.toThrow();
});

test('another one is refused, and named by its beginning', () => {
	const headers = { 'content-encoding': `br, ${'x'.repeat(100)}` };
	expect(() => refuseEncoding(headers)).toThrow(
		new Error(`the file host sent it in an encoding that n8n can't undo: br, ${'x'.repeat(56)}`),
	);
});

const at = (range: string, length?: string): Headers => ({
	'content-range': `bytes ${range}`,
	...(length === undefined ? {} : { 'content-length': length }),
});
test.each<[string, Headers, ReturnType<typeof partOf>]>([
	['a part', at('5-9/20'), { from: 5, end: 10, total: 20 }],
	['up to the end', at('5-19/20'), { from: 5, end: 20, total: 20 }],
	['of a file whose length nobody knows', at('15-29/*'), undefined],
	['beyond the end', at('5-20/20'), undefined],
	['backwards', at('5-4/20', '0'), undefined],
	['another length than its own', at('5-9/20', '6'), undefined],
	['other units', { 'content-range': 'items 5-9/20' }, undefined],
	['more behind it', at('5-9/20, 11-12/20'), undefined],
	['no place', {}, undefined],
])('the place of a part: %s', (_name, headers, expected) => {
	expect(partOf(headers)).toEqual(expected);
});
