import type { FastifyInstance } from 'fastify';
import type { Answer } from './answer';
import type { Context } from './context';
import { door, type Call } from './door';
import { bulkBytes } from './media/bulk';
import { outputFiles, type OutputFile } from './outputs';
import { byteRange } from './range';
import type { TaskRecord } from './types';

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
		return file(context, request.headers, params);
	};
	app.get('/files/:task_id/:name', door(context, 'files', 'file', serve));
	app.setNotFoundHandler(door(context, 'files', 'unknown', () => page(404, 'Not Found')));
}

/** The third host: serves the same files, and takes any POST as a receiver of callbacks would. */
export function otherRoutes(app: FastifyInstance, context: Context): void {
	app.get(
		'/files/:task_id/:name',
		door(context, 'other', 'file', ({ request, params }) => file(context, request.headers, params)),
	);
	app.post(
		'/*',
		door(context, 'other', 'unknown', () => ({ status: 200, json: { received: true } })),
	);
	app.setNotFoundHandler(door(context, 'other', 'unknown', () => page(404, 'Not Found')));
}

type Headers = Record<string, string | string[] | undefined>;

function file(context: Context, headers: Headers, params: Record<string, string>): Answer {
	const { settings, store } = context;
	const task = store.get(params.task_id ?? '');
	const output =
		task?.status === 'done' && outputFiles(task, settings).find(({ name }) => name === params.name);
	if (!task || !output) return page(404, 'Not Found');
	const { steering } = task;
	if (output.role === 'main' && steering.file_status !== undefined)
		return page(steering.file_status, 'Error');
	return part(context, task, output, headers);
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
	const etag = `"${task.id}/${output.name}"`;
	const own = {
		'content-type':
			(isMain ? steering.file_type : undefined) ?? settings.fileType ?? output.contentType,
		etag,
		'accept-ranges': 'bytes',
	};
	const ifRange = headers['if-range'];
	const wanted = ifRange === undefined || ifRange === etag ? headers.range : undefined;
	const range = byteRange(wanted, length);
	if (range === 'unsatisfiable') {
		return { status: 416, headers: { ...own, 'content-range': `bytes */${length}` }, content: '' };
	}
	const { from, to } = range ?? { from: 0, to: length };
	return {
		status: range ? 206 : 200,
		headers: range ? { ...own, 'content-range': `bytes ${from}-${to - 1}/${length}` } : own,
		content:
			length > head.length
				? {
						length: to - from,
						chunks: bulkBytes(head, { from, to }, output.block?.()),
					}
				: head.subarray(from, to),
	};
}
