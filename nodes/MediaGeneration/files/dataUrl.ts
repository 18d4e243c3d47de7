/** Opens a file that its own address contains (RFC 2397). It can't be larger than an answer (`bounded.ts`). */
import { attempt } from '../base/outcomes';
import { pause } from '../n8n/realClock';
import type { NotOpened, OpenFile } from '../transport/fileHost';

/** Looking for sound takes long in some bytes, so n8n's event loop gets a turn before each piece. */
async function* inTurns(bytes: Buffer, step = 65_536): AsyncGenerator<Buffer> {
	for (let at = 0; at < bytes.length; at += step) {
		await pause(0);
		yield bytes.subarray(at, at + step);
	}
}

export function openDataUrl(url: string): OpenFile | NotOpened {
	const comma = url.indexOf(',');
	const stated = url.slice('data:'.length, comma);
	const text = attempt(() => decodeURIComponent(url.slice(comma + 1)));
	if (!text.ok) return { ok: false, reason: 'its address contains no file', transient: false };
	const bytes = Buffer.from(text.value, /;\s*base64\s*$/i.test(stated) ? 'base64' : 'utf8');
	const headers = { 'content-type': stated, 'content-length': bytes.length };
	return { ok: true, status: 200, headers, body: inTurns(bytes), close: () => undefined };
}
