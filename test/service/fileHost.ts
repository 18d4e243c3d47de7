import { gzipSync } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import type { Answer } from './answer';
import { now } from './clock';
import type { Context } from './context';
import { door, type Call } from './door';
import { bulkBytes } from './media/bulk';
import { outputFiles, type OutputFile } from './outputs';
import { byteRange, type ByteRange } from './range';
import type { Settings, TaskRecord } from './types';

const page = (status: number, words: string): Answer => ({
	status,
	headers: { 'content-type': 'text/html; charset=utf-8' },
	content: `<!DOCTYPE html><html><body><h1>${status} ${words}</h1></body></html>`,
});

/** Where outputs lie: another host, no key needed (docs/service.md, "HTTP"). */
export function fileRoutes(app: FastifyInstance, context: Context): void {
	const serve = ({ request, params }: Call): Answer => {
		if (context.settings.fileRedirect === 'otherHost') {
			return {
				status: 302,
				headers: { location: `${context.urls.other}${request.url}` },
				content: '',
			};
		}
		return file(context, request.headers, request.query as Query, params);
	};
	app.get('/files/:task_id/:name', door(context, 'files', 'file', serve));
	app.setNotFoundHandler(door(context, 'files', 'unknown', () => page(404, 'Not Found')));
}

/** The third host: serves the same files, and takes any POST as a receiver of callbacks would. */
export function otherRoutes(app: FastifyInstance, context: Context): void {
	app.get(
		'/files/:task_id/:name',
		door(context, 'other', 'file', ({ request, params }) =>
			file(context, request.headers, request.query as Query, params),
		),
	);
	app.post(
		'/*',
		door(context, 'other', 'unknown', () => ({ status: 200, json: { received: true } })),
	);
	app.setNotFoundHandler(door(context, 'other', 'unknown', () => page(404, 'Not Found')));
}

type Query = Record<string, string | undefined>;
type Headers = Record<string, string | string[] | undefined>;

function file(
	context: Context,
	headers: Headers,
	query: Query,
	params: Record<string, string>,
): Answer {
	const { settings, store } = context;
	if (settings.browsersOnly && !String(headers['user-agent'] ?? '').startsWith('Mozilla/'))
		return page(403, 'Forbidden');
	if (query.expires !== undefined && Number(query.expires) < now())
		return page(403, 'Request has expired');
	const task = store.get(params.task_id ?? '');
	const output =
		task?.status === 'done' && outputFiles(task, settings).find(({ name }) => name === params.name);
	if (!task || !output) return page(404, 'Not Found');
	const { steering } = task;
	if (output.role === 'main' && steering.file_status !== undefined)
		return page(steering.file_status, 'Error');
	return part(context, task, output, headers);
}

function etagOf(task: TaskRecord, output: OutputFile, { fileValidators }: Settings) {
	if (fileValidators === 'none') return undefined;
	return `${fileValidators === 'weak' ? 'W/' : ''}"${task.id}/${output.name}"`;
}

function packed(whole: Buffer, encoding: string): Buffer {
	return encoding.split(', ').reduce((bytes) => gzipSync(bytes), whole);
}

function capped(range: ByteRange | null, limit: Settings['fileRanges']): ByteRange | null {
	if (range === null || typeof limit !== 'number') return range;
	return { from: range.from, to: Math.min(range.to, range.from + limit) };
}

/** 200 with the whole file, or 206 with the range that was asked for. Nothing is held: bytes are made as they go out. */
function part(
	{ settings }: Context,
	task: TaskRecord,
	output: OutputFile,
	headers: Headers,
): Answer {
	const { steering } = task;
	const isMain = output.role === 'main';
	const head =
		isMain && steering.file_body !== undefined ? Buffer.from(steering.file_body) : output.content();
	const length = (isMain ? steering.bytes : undefined) ?? head.length;
	const etag = etagOf(task, output, settings);
	const { fileEncoding, fileRanges } = settings;
	const own = {
		'content-type':
			(isMain ? steering.file_type : undefined) ?? settings.fileType ?? output.contentType,
		...(etag === undefined ? {} : { etag }),
		...(fileRanges === 'none' ? {} : { 'accept-ranges': 'bytes' }),
	};
	if (fileEncoding !== null) {
		const whole = Buffer.concat([...bulkBytes(head, { from: 0, to: length }, output.block?.())]);
		return {
			status: 200,
			headers: { ...own, 'content-encoding': fileEncoding },
			content: packed(whole, fileEncoding),
		};
	}
	const ifRange = headers['if-range'];
	const wanted = ifRange === undefined || ifRange === etag ? headers.range : undefined;
	const range = fileRanges === 'none' ? null : byteRange(wanted, length);
	if (range === 'unsatisfiable') {
		return { status: 416, headers: { ...own, 'content-range': `bytes */${length}` }, content: '' };
	}
	const { from, to } = capped(range, fileRanges) ?? { from: 0, to: length };
	return {
		status: range ? 206 : 200,
		headers: range ? { ...own, 'content-range': `bytes ${from}-${to - 1}/${length}` } : own,
		content:
			length > head.length || settings.fileBytesPerSecond !== null
				? {
						length: to - from,
						chunks: bulkBytes(head, { from, to }, output.block?.()),
						bytesPerSecond: settings.fileBytesPerSecond,
					}
				: head.subarray(from, to),
	};
}
