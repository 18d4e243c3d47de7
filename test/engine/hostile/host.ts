/** A file host on 127.0.0.1 that writes HTTP by itself, so that it can do what no server library lets one do. */
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import type { Habits, Plan, Trouble } from './plan';

interface Asked {
	path: string;
	headers: Record<string, string>;
}

interface Case {
	plan: Plan;
	requests: number;
	/** Compressed files, by version. */
	packed: Buffer[];
}

interface Reply {
	status: number;
	headers: Record<string, string>;
	body: Buffer;
}

const PAGE =
	'<!DOCTYPE html><html><head><title>Just a moment...</title></head><body>Wait</body></html>';

function packed(body: Buffer, encoding: Habits['encoding']): Buffer {
	switch (encoding) {
		case 'gzip':
			return gzipSync(body);
		case 'deflate':
			return deflateSync(body);
		case 'br':
			return brotliCompressSync(body, { params: { 1: 1 } });
		case 'gzip, gzip':
			return gzipSync(gzipSync(body));
		case 'none':
		case 'gzip that is none':
			return body;
	}
}

const encodingHeader = (encoding: Habits['encoding']): Record<string, string> =>
	encoding === 'none'
		? {}
		: { 'content-encoding': encoding === 'gzip that is none' ? 'gzip' : encoding };

function validatorsOf(
	{ validators }: Habits,
	version: number,
	request: number,
): Record<string, string> {
	switch (validators) {
		case 'strong':
			return { etag: `"v${version}"` };
		case 'fickle':
			return { etag: `"v${version}-${request}"` };
		case 'weak':
			return { etag: 'W/"v"' };
		case 'date':
			return {
				'last-modified': `Wed, 21 Oct 2026 07:0${version}:00 GMT`,
				date: 'Wed, 21 Oct 2026 08:00:00 GMT',
			};
		case 'none':
			return {};
	}
}

/** A part as the host's habits make it; undefined where it sends all. */
function partOf(whole: Buffer, from: number, { ranges }: Habits): Reply | undefined {
	const total = whole.length;
	const part = (start: number, end: number, shownTotal: number | string = total): Reply => ({
		status: 206,
		headers: { 'content-range': `bytes ${start}-${end - 1}/${shownTotal}` },
		body: whole.subarray(start, end),
	});
	if (from >= total && ranges !== 'none')
		return { status: 416, headers: { 'content-range': `bytes */${total}` }, body: Buffer.alloc(0) };
	switch (ranges) {
		case 'none':
			return undefined;
		case 'all':
		case 'careless':
			return part(from, total);
		case 'capped':
			return part(from, Math.min(total, from + 40_000));
		case 'unknownTotal':
			return part(from, Math.min(total, from + 200_000), '*');
		case 'later':
			return part(Math.min(total - 1, from + 10), total);
		case 'fromStart':
			return { ...part(from, total), body: whole };
		case 'shifted':
			return {
				...part(from, total),
				body: Buffer.concat([whole.subarray(from + 1), Buffer.from('x')]),
			};
		case 'refused':
			return { status: 416, headers: {}, body: Buffer.from('no') };
		case 'otherTotal':
			return part(from, total, total + 1000);
		case 'list':
			return {
				status: 206,
				headers: { 'content-type': 'multipart/byteranges; boundary=x' },
				body: Buffer.concat([
					Buffer.from('--x\r\n\r\n'),
					whole.subarray(from),
					Buffer.from('\r\n--x--'),
				]),
			};
	}
}

function replyTo({ plan, requests, packed: kept }: Case, asked: Asked): Reply {
	const { content, habits, changesAt } = plan;
	const version = requests > changesAt ? 1 : 0;
	const whole = content.versions[version] ?? Buffer.alloc(0);
	const compress = () => (kept[version] ??= packed(whole, habits.encoding));
	const validators = validatorsOf(habits, version, requests);
	const own = {
		...(habits.stated === '' ? {} : { 'content-type': habits.stated }),
		...(habits.ranges === 'none' ? {} : { 'accept-ranges': 'bytes' }),
		...validators,
	};
	const { range, 'if-range': ifRange } = asked.headers;
	const current = validators.etag ?? validators['last-modified'];
	const from = /^bytes=(\d+)-$/.exec(range ?? '')?.[1];
	if (from !== undefined && (ifRange === current || habits.ranges === 'careless')) {
		const compressed = habits.compressedParts && habits.encoding !== 'none';
		const source = compressed ? compress() : whole;
		const part = partOf(source, Number(from), habits);
		if (part !== undefined)
			return {
				...part,
				headers: {
					...own,
					...(compressed ? encodingHeader(habits.encoding) : {}),
					...part.headers,
				},
			};
	}
	return {
		status: 200,
		headers: { ...own, ...encodingHeader(habits.encoding) },
		body: compress(),
	};
}

function wrongReply(trouble: Trouble | undefined): Reply | undefined {
	if (trouble?.type === 'page')
		return { status: 200, headers: { 'content-type': 'text/html' }, body: Buffer.from(PAGE) };
	if (trouble?.type === 'words')
		return { status: 200, headers: { 'content-type': 'audio/mpeg' }, body: Buffer.from('Not yet') };
	if (trouble?.type !== 'status') return undefined;
	const { status, retryAfter } = trouble;
	const headers: Record<string, string> =
		retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
	return { status, headers, body: Buffer.from(status === 304 ? '' : 'refused') };
}

/** Writes as many bytes as the trouble lets through; returns whether it was all. */
async function writeBody(
	socket: Socket,
	bytes: Buffer,
	trouble: Trouble | undefined,
	chunked: boolean,
) {
	const limit =
		trouble !== undefined && 'after' in trouble
			? Math.min(trouble.after, bytes.length)
			: bytes.length;
	const step = trouble?.type === 'slowly' ? Math.ceil(bytes.length / 5) || 1 : 16_384;
	for (let at = 0; at < limit; at += step) {
		if (socket.destroyed) return;
		const piece = bytes.subarray(at, Math.min(limit, at + step));
		const written = chunked
			? Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')])
			: piece;
		if (!socket.write(written))
			await new Promise((resolve) => socket.once('drain', resolve).once('close', resolve));
		if (trouble?.type === 'slowly') await new Promise((resolve) => setTimeout(resolve, 2));
	}
}

async function answer(
	socket: Socket,
	reply: Reply,
	framing: Habits['framing'],
	trouble: Trouble | undefined,
) {
	const { status, headers, body } = reply;
	const bodiless = status === 304;
	const length =
		framing === 'length' || framing === 'longLength'
			? { 'content-length': String(body.length + (framing === 'longLength' ? 77 : 0)) }
			: {};
	const lines = Object.entries({
		...headers,
		connection: 'close',
		...(bodiless ? {} : length),
		...(framing === 'chunked' && !bodiless ? { 'transfer-encoding': 'chunked' } : {}),
	}).map(([name, value]) => `${name}: ${value}\r\n`);
	socket.write(`HTTP/1.1 ${status} Words\r\n${lines.join('')}\r\n`);
	if (bodiless) return socket.end();
	await writeBody(socket, body, trouble, framing === 'chunked');
	if (trouble?.type === 'stall') return;
	if (trouble?.type === 'resetAfterAll' && framing === 'chunked') socket.write('0\r\n\r\n');
	if (trouble?.type === 'reset' || trouble?.type === 'resetAfterAll') {
		// Not at once, so that the bytes before it arrive.
		setTimeout(() => socket.resetAndDestroy(), 2);
		return;
	}
	if (trouble?.type !== 'cut' && framing === 'chunked') socket.write('0\r\n\r\n');
	socket.end();
}

export class HostileHost {
	private readonly cases = new Map<number, Case>();
	private readonly sockets = new Set<Socket>();
	private readonly server: Server;
	/** Requests of all cases. */
	requests = 0;

	constructor() {
		this.server = createServer((socket) => this.serve(socket));
	}

	async listen(): Promise<void> {
		await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
	}

	async close(): Promise<void> {
		this.sockets.forEach((socket) => socket.destroy());
		await new Promise((resolve) => this.server.close(resolve));
	}

	/** The address of a plan's file. */
	add(plan: Plan): string {
		this.cases.set(plan.seed, { plan, requests: 0, packed: [] });
		const { port } = this.server.address() as AddressInfo;
		return `http://127.0.0.1:${port}/${plan.habits.redirects}/${plan.seed}.${plan.content.extension}`;
	}

	/** Forgets a plan; how many requests it took. */
	remove({ seed }: Plan): number {
		const { requests = 0 } = this.cases.get(seed) ?? {};
		this.cases.delete(seed);
		return requests;
	}

	get openSockets(): number {
		return this.sockets.size;
	}

	private serve(socket: Socket): void {
		this.sockets.add(socket);
		let head = '';
		socket.on('close', () => this.sockets.delete(socket));
		socket.on('error', () => undefined);
		socket.on('data', (data) => {
			head += data.toString('latin1');
			if (!head.includes('\r\n\r\n')) return;
			const [first = '', ...lines] = head.split('\r\n');
			head = '';
			const headers = Object.fromEntries(
				lines.map((line) => [
					line.split(':')[0]?.toLowerCase(),
					line.slice(line.indexOf(':') + 1).trim(),
				]),
			) as Record<string, string>;
			void this.respond(socket, { path: first.split(' ')[1] ?? '', headers });
		});
	}

	private async respond(socket: Socket, asked: Asked): Promise<void> {
		const [, hops = '0', seed = '', extension = ''] =
			/^\/(\d+)\/(\d+)\.(\w+)$/.exec(asked.path) ?? [];
		const file = this.cases.get(Number(seed));
		if (file === undefined) {
			socket.destroy();
			return;
		}
		this.requests += 1;
		if (Number(hops) > 0) {
			const location = `/${Number(hops) - 1}/${seed}.${extension}`;
			const body = Buffer.alloc(50_000, 'redirect');
			await answer(socket, { status: 302, headers: { location }, body }, 'length', undefined);
			return;
		}
		file.requests += 1;
		const trouble = file.plan.troubles[file.requests - 1];
		if (trouble?.type === 'silence') return;
		const reply = wrongReply(trouble) ?? replyTo(file, asked);
		await answer(socket, reply, file.plan.habits.framing, trouble);
	}
}
