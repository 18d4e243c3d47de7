/** Times that n8n's date picker stores, in the zone of the workflow; whatever names a zone itself is not for this. */
import { localTimeOf } from '../../nodes/MediaGeneration/actions/taskReads';

test.each([
	['2026-01-31T12:00:00', 'UTC', '2026-01-31T12:00:00Z'],
	['2026-01-31T12:00:00', 'Asia/Tokyo', '2026-01-31T03:00:00Z'],
	['2026-01-31T12:00:00', 'America/New_York', '2026-01-31T17:00:00Z'],
	['2026-07-31T12:00:00', 'America/New_York', '2026-07-31T16:00:00Z'],
	// The clocks of Berlin change at 02:00 that day.
	['2026-03-29T01:59:59', 'Europe/Berlin', '2026-03-29T00:59:59Z'],
	['2026-03-29T03:00:00', 'Europe/Berlin', '2026-03-29T01:00:00Z'],
	['2026-10-25T04:00:00', 'Europe/Berlin', '2026-10-25T03:00:00Z'],
	['2026-01-31 12:00', 'Asia/Kathmandu', '2026-01-31T06:15:00Z'],
	[' 2026-01-31 ', 'Asia/Tokyo', '2026-01-30T15:00:00Z'],
	['2026-01-31T12:00:00.250', 'Asia/Tokyo', '2026-01-31T03:00:00.250Z'],
])('%s in %s', (local, zone, expected) => {
	expect(new Date(localTimeOf(local, zone) ?? NaN)).toEqual(new Date(expected));
});

test.each(['2026-01-31T12:00:00Z', '2026-01-31T12:00:00+09:00', '1769860800', '2026-13-01', 7, {}])(
	'%j is no local time',
	(value) => {
		expect(localTimeOf(value, 'Asia/Tokyo')).toBeUndefined();
	},
);
