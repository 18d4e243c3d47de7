/** Reads times that name no zone in the zone of the workflow: n8n's date picker stores them so (n8n 2.41). */
const LOCAL_TIME = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?$/;

/** Returns epoch ms; undefined for anything but a local time. */
export function localTimeOf(value: unknown, timeZone: string): number | undefined {
	if (typeof value !== 'string' || !LOCAL_TIME.test(value.trim())) return undefined;
	const [date = '', time = '00:00'] = value.trim().split(/[T ]/);
	const asUtc = Date.parse(`${date}T${time}Z`);
	if (Number.isNaN(asUtc)) return undefined;
	// Where clocks change in between, the second offset is that of the time itself.
	return asUtc - offsetAt(asUtc - offsetAt(asUtc, timeZone), timeZone);
}

/** In ms, positive east of Greenwich. */
function offsetAt(epochMs: number, timeZone: string): number {
	// Swedish dates are written as in ISO 8601.
	const shown = new Date(epochMs).toLocaleString('sv-SE', { timeZone });
	return Date.parse(`${shown.replace(' ', 'T')}Z`) - Math.floor(epochMs / 1_000) * 1_000;
}
