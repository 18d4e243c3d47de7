/** SECURITY.md, "Threat model": a proxy of the whole n8n (HTTPS_PROXY) that opens no way to the service: nothing was sent, so nothing is paid. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { engineSetting, goOn, sound } from './setting';

const setting = engineSetting();
let proxy: Server;
let connects = 0;
let refuse: (socket: Socket) => void;

beforeAll(async () => {
	proxy = createServer();
	proxy.on('connect', (_request, socket: Socket) => {
		connects += 1;
		refuse(socket);
	});
	await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
	process.env.HTTPS_PROXY = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
});

afterAll(() => {
	delete process.env.HTTPS_PROXY;
	proxy.close();
});

const answers = (head: string) => (socket: Socket) =>
	void socket.end(`HTTP/1.1 ${head}\r\nContent-Length: 0\r\n\r\n`);

test.each<[string, typeof refuse, RegExp]>([
	[
		'wants a login',
		answers('407 Proxy Authentication Required\r\nProxy-Authenticate: Basic'),
		/refused the task \(HTTP 407\)/,
	],
	[
		'hangs up',
		(socket) => void socket.destroy(),
		/could not be reached: Proxy connection ended before receiving CONNECT response/,
	],
])('a proxy that %s', async (_name, how, words) => {
	refuse = how;
	connects = 0;
	const { output } = await setting.run({
		parameters: sound('Rain'),
		settings: goOn,
		credentials: { baseUrl: 'https://api.example' },
	});
	expect(connects).toBeGreaterThan(0);
	expect(output[0]?.json).toMatchObject({
		outcome: 'rejected',
		error: expect.stringMatching(words) as string,
	});
});
