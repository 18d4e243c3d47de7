/** Times of listed tasks: only one that is certain may rule a task out. */
import { momentOf, timeOf } from '../../nodes/MediaGeneration/answers/moment';

test.each([
	'2026-01-02T03:04:05Z',
	'2026-01-02T03:04:05.000Z',
	'2026-01-02 03:04:05+00',
	'2026-01-02 05:04:05 +0200',
	'2026-01-02T05:04:05+02:00',
	'2026-01-02 03:04:05 UTC',
	'Fri, 02 Jan 2026 03:04:05 GMT',
	' 1767323045 ',
	1767323045000,
])('%j is certain', (value) => {
	expect(momentOf(value)).toBe(Date.parse('2026-01-02T03:04:05Z'));
});

test.each([
	'12:30 05-10-2026',
	'12:30:00 05-10-2026',
	'05-10-2026 12:30 UTC',
	'2026-01-02T03:04:05',
	'2026-01-02',
	'Jan 2, 2026, 3:04:05 AM',
	'yesterday',
	'0001-01-01T00:00:00Z',
	35,
	20260102,
	`2026-01-02T03:04:05.${'0'.repeat(64)}Z`,
])('%j is not', (value) => {
	expect(momentOf(value)).toBeUndefined();
});

test('a long text is no time', () => {
	expect(timeOf(`2026-01-02T03:04:05.${'0'.repeat(64)}`)).toBeUndefined();
	expect(timeOf('2026-01-02T03:04:05.00')).toBe(Date.parse('2026-01-02T03:04:05Z'));
});
