/** The host of the files, as n8n's HTTP client hands its answers over. */
import { Readable } from 'node:stream';
import { wavHeader } from '../service/media/bulk';
import type { FileFault, History } from './history';
import type { Machine } from '../support/machine';

const SOUND = Buffer.concat([wavHeader(44 + 640), Buffer.alloc(640)]);
const DEEP = Buffer.from('['.repeat(20_000));
const CAPTIONS = Buffer.from('1\n00:00:00,000 --> 00:00:00,010\nword\n');

export interface FileAnswer {
	statusCode: number;
	headers: Record<string, unknown>;
	body: Readable;
}

async function* cut(bytes: Buffer): AsyncGenerator<Buffer> {
	yield await Promise.resolve(bytes.subarray(0, 30));
	throw Object.assign(new Error('aborted'), { code: 'ECONNRESET' });
}

export class FileHost {
	private asked = 0;

	constructor(
		private readonly machine: Machine,
		private readonly history: History,
		private readonly note: (line: string) => void,
	) {}

	async get(url: string): Promise<FileAnswer> {
		const fault: FileFault = this.history.files[this.asked] ?? 'ok';
		this.asked += 1;
		await this.machine.pause(20);
		const bytes = url.endsWith('.srt') ? CAPTIONS : SOUND;
		const type = url.endsWith('.srt') ? 'application/x-subrip' : 'audio/wav';
		if (fault !== 'ok') this.note(`GET ${url}: ${fault}`);
		const give = (
			statusCode: number,
			body: Buffer | AsyncGenerator<Buffer>,
			headers: Record<string, unknown> = {},
		): FileAnswer => ({
			statusCode,
			headers: { 'content-type': type, ...headers },
			body: Readable.from(Buffer.isBuffer(body) ? [body] : body, { objectMode: false }),
		});
		switch (fault) {
			case 'HTTP 403':
				return give(403, Buffer.from('no'));
			case 'HTTP 404':
				return give(404, Buffer.from('gone'));
			case 'HTTP 503':
				return give(503, Buffer.from('later'), { 'retry-after': '3' });
			case 'page':
				return give(200, Buffer.from('<html>sign in</html>'), { 'content-type': 'text/html' });
			case 'cut':
				return give(200, cut(bytes), { 'content-length': String(bytes.length), etag: '"1"' });
			case 'reset':
				throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', syscall: 'read' });
			case 'deep':
				return url.endsWith('.wav') ? give(200, bytes) : give(200, DEEP);
			case 'redirected':
				return give(302, Buffer.from(''), { location: url.replace('://', '://mirror.') });
			default:
				return give(200, bytes, { 'content-length': String(bytes.length), etag: '"1"' });
		}
	}
}
