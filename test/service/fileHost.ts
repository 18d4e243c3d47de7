import type { FastifyInstance } from 'fastify';
import type { Answer } from './answer';
import type { Context } from './context';
import { door, type Call } from './door';
import { bulkBytes } from './media/bulk';
import { outputFiles, type OutputFile } from './outputs';
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
		return file(context, params);
	};
	app.get('/files/:task_id/:name', door(context, 'files', 'file', serve));
	app.setNotFoundHandler(door(context, 'files', 'unknown', () => page(404, 'Not Found')));
}

/** The third host: serves the same files, and takes any POST as a receiver of callbacks would. */
export function otherRoutes(app: FastifyInstance, context: Context): void {
	app.get(
		'/files/:task_id/:name',
		door(context, 'other', 'file', ({ params }) => file(context, params)),
	);
	app.post(
		'/*',
		door(context, 'other', 'unknown', () => ({ status: 200, json: { received: true } })),
	);
	app.setNotFoundHandler(door(context, 'other', 'unknown', () => page(404, 'Not Found')));
}

function file(context: Context, params: Record<string, string>): Answer {
	const { settings, store } = context;
	const task = store.get(params.task_id ?? '');
	const output =
		task?.status === 'done' && outputFiles(task, settings).find(({ name }) => name === params.name);
	if (!task || !output) return page(404, 'Not Found');
	const { steering } = task;
	if (output.role === 'main' && steering.file_status !== undefined)
		return page(steering.file_status, 'Error');
	return whole(task, output);
}

/** The whole file. Nothing is held: bytes are made as they go out. */
function whole({ steering, id }: TaskRecord, output: OutputFile): Answer {
	const isMain = output.role === 'main';
	const head =
		isMain && steering.file_body !== undefined ? Buffer.from(steering.file_body) : output.content();
	const length = (isMain ? steering.bytes : undefined) ?? head.length;
	return {
		status: 200,
		headers: { 'content-type': output.contentType, etag: `"${id}/${output.name}"` },
		content:
			length > head.length
				? { length, chunks: bulkBytes(head, length, output.block?.()) }
				: head.subarray(0, length),
	};
}
