/** The credential's test with the only helper that n8n gives it, over real sockets. */
import './container';
import type { ICredentialTestFunctions } from 'n8n-workflow';
import { CredentialTestContext } from 'n8n-core';
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { testCredential } from '../../nodes/MediaGeneration/methods/credentialTest';

const KEY = 'sk_0123456789abcdef';
let server: Server;
let answer: RequestListener;
const seen: Array<string | undefined> = [];

beforeAll(async () => {
	server = createServer((request, response) => {
		seen.push(`${request.url} ${request.headers.authorization}`);
		answer(request, response);
	}).listen(0, '127.0.0.1');
	await once(server, 'listening');
});
afterAll(() => server.close());

async function tested(acts: RequestListener) {
	answer = acts;
	const { port } = server.address() as AddressInfo;
	const data = { apiKey: KEY, baseUrl: `http://127.0.0.1:${port}/` };
	const context = new CredentialTestContext({} as never) as unknown as ICredentialTestFunctions;
	return await testCredential(context, { id: '1', name: 'x', type: 'mediaGenerationApi', data });
}

it('a balance is a success, asked for once with the key', async () => {
	const { status } = await tested((_, response) => response.end('{"success":true,"credits":5}'));
	expect([status, seen]).toEqual(['OK', [`/v1/credits Bearer ${KEY}`]]);
});

it.each<[string, RequestListener, RegExp]>([
	[
		'refuses',
		(_, response) => response.writeHead(401).end('{"message":"no"}'),
		/not accept.*: no$/,
	],
	['sends a page', (_, response) => response.writeHead(403).end('<p>'), /web page came instead/],
	[
		'redirects',
		(_, response) => response.writeHead(302, { location: '/elsewhere' }).end(),
		/redirects to another address/,
	],
	['hangs up', ({ socket }) => socket.destroy(), /^No answer came from the Base URL/],
])('a service that %s is none, and nothing else is asked', async (_name, acts, words) => {
	seen.length = 0;
	const { status, message } = await tested(acts);
	expect([status, message]).toEqual(['Error', expect.stringMatching(words)]);
	expect(seen).toHaveLength(1);
});
