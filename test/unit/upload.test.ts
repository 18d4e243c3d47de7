/** What is known of a request with files that ends early: over real sockets, sent as n8n's helper sends it. */
import axios from 'axios';
import type { IHttpRequestOptions } from 'n8n-workflow';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readCreation } from '../../nodes/MediaGeneration/answers/creation';
import { createClient } from '../../nodes/MediaGeneration/transport/client';
import { onMachine } from '../support/machine';
import { fakeN8n, type Answered } from '../support/n8n';
import { RAIN } from '../support/replies';

const MB = 1_000_000;

function fileOf(size: number) {
	return {
		...{ field: 'file', name: 'a.wav', type: 'audio/wav', size, sha256: '' },
		stream: async function* () {
			for (let left = size; left >= MB; left -= MB) yield await Promise.resolve(Buffer.alloc(MB));
		},
	};
}

const asN8nDoes = async ({ body, abortSignal, ...options }: IHttpRequestOptions) => {
	const { status, headers, data } = await axios.request<NodeJS.ReadableStream>({
		...{ method: options.method ?? 'GET', url: options.url, data: body },
		...{ headers: options.headers as Record<string, string>, timeout: options.timeout ?? 0 },
		...{ maxRedirects: 0, maxBodyLength: Infinity, responseType: 'stream' as const },
		...{ validateStatus: () => true, signal: abortSignal },
	});
	return { statusCode: status, headers, body: data };
};

async function sending(
	service: (options: IHttpRequestOptions) => Promise<Answered>,
	{ baseUrl = 'https://api.example', sizes = [40 * MB] } = {},
) {
	const { context } = fakeN8n({ credential: { baseUrl }, service });
	const client = await createClient(context);
	return await client.send({
		...{ method: 'POST', path: '/v1/task/dubbing', body: { language: 'de' } },
		...{ purpose: 'create', own: [], timeoutMs: 120_000, files: sizes.map(fileOf) },
	});
}

describe('a service', () => {
	let server: Server;
	let act: (request: IncomingMessage, response: ServerResponse) => void;
	beforeAll(async () => {
		server = createServer((request, response) => act(request, response)).listen(0, '127.0.0.1');
		await once(server, 'listening');
	});
	afterAll(() => {
		server.closeAllConnections();
		server.close();
	});

	const onceWhole =
		(then: typeof act): typeof act =>
		(request, response) =>
			void once(request.resume(), 'end').then(() => then(request, response));
	test.each<[string, typeof act, string]>([
		['resets the connection in the middle', ({ socket }) => socket.resetAndDestroy(), 'refused'],
		[
			'answers 413 and closes the connection',
			({ socket }, response) => response.writeHead(413).end('{}', () => socket.destroySoon()),
			'refused',
		],
		[
			'answers 502 to all of it',
			onceWhole((_, response) => response.writeHead(502).end()),
			'unclear',
		],
		[
			'closes the connection after all of it',
			onceWhole(({ socket }) => socket.destroy()),
			'unclear',
		],
		['creates the task', onceWhole((_, response) => response.end('{"task_id":"t1"}')), 'created'],
	])('that %s', async (_name, acts, kind) => {
		act = acts;
		const { port } = server.address() as AddressInfo;
		const reply = await sending(asN8nDoes, { baseUrl: `http://127.0.0.1:${port}` });
		expect(readCreation(reply, RAIN)).toMatchObject({ kind });
	});
});

/** The pieces of the request, as an HTTP client asks for them. */
async function* piecesOf({ body }: IHttpRequestOptions) {
	for (const [, part] of body as Iterable<[string, string | ReturnType<typeof fileOf>]>)
		if (typeof part !== 'string') yield* part.stream();
}

test.each([
	[200, { task_id: 't1' }, { kind: 'created', taskId: 't1' }],
	[200, {}, { kind: 'unclear' }],
	[500, { task_id: 't1' }, { kind: 'unclear' }],
])(
	'%d and %j count, though a file could not be read to its end',
	async (statusCode, body, means) => {
		const early = async (options: IHttpRequestOptions) => {
			const read = async () => {
				for await (const piece of piecesOf(options)) expect(piece.length).toBeGreaterThan(0);
			};
			await expect(read()).rejects.toThrow('a.wav has changed');
			return { statusCode, body };
		};
		const reply = await sending(early, { sizes: [MB + 1] });
		expect(readCreation(reply, RAIN)).toMatchObject(means);
	},
);

test('files that flow are never given up, however long they take', async () => {
	const slowly = async (options: IHttpRequestOptions) => {
		for await (const piece of piecesOf(options))
			await new Promise((resolve) => setTimeout(resolve, piece.length > 0 ? 59_000 : 0));
		return { body: { task_id: 't1' } };
	};
	const reply = await onMachine(async () => await sending(slowly, { sizes: [MB] }));
	expect(readCreation(reply, RAIN)).toMatchObject({ kind: 'created' });
});

test('what stands still for a minute, after the first of two files, is given up, and created nothing', async () => {
	const stops = async (options: IHttpRequestOptions) => {
		await piecesOf(options).next();
		return await new Promise<never>(() => undefined);
	};
	const [reply, ms] = await onMachine(async () => {
		const began = Date.now();
		return [await sending(stops, { sizes: [MB, MB] }), Date.now() - began] as const;
	});
	expect(ms).toBe(60_000);
	expect(reply).toEqual({
		...{ answered: false, kind: 'unsent' },
		reason: expect.stringMatching(/stood still for 60 s, before the last byte/) as string,
	});
});
