import { NodeApiError, NodeOperationError, type INode } from 'n8n-workflow';
import {
	connectionOf,
	reasonOf,
	type Connection,
	withoutSocketCodes,
} from '../../nodes/MediaGeneration/service/networkError';

const NODE: INode = {
	id: 'n',
	name: 'n',
	type: 't',
	typeVersion: 1,
	position: [0, 0],
	parameters: {},
};

const error = (message: string, fields: object = {}) => Object.assign(new Error(message), fields);

describe('can the service have seen the request? Only what proves that none was sent counts', () => {
	test.each<readonly [string, unknown, Connection]>([
		[
			'refused',
			error('connect ECONNREFUSED', { code: 'ECONNREFUSED', syscall: 'connect' }),
			'unconnected',
		],
		[
			'unknown host',
			error('getaddrinfo ENOTFOUND', { code: 'ENOTFOUND', syscall: 'getaddrinfo' }),
			'impossible',
		],
		[
			'DNS down',
			error('getaddrinfo EAI_AGAIN', { code: 'EAI_AGAIN', syscall: 'getaddrinfo' }),
			'unconnected',
		],
		['no route', error('x', { code: 'EHOSTUNREACH', syscall: 'connect' }), 'unconnected'],
		['no route, from whichever call', error('x', { code: 'EHOSTUNREACH' }), 'unanswered'],
		[
			'no route, while reading an answer',
			error('read EHOSTUNREACH', { code: 'EHOSTUNREACH', syscall: 'read' }),
			'unanswered',
		],
		[
			'the network went down while writing',
			error('write ENETDOWN', { code: 'ENETDOWN', syscall: 'write' }),
			'unanswered',
		],
		['refused, from whichever call', error('x', { code: 'ECONNREFUSED' }), 'unanswered'],
		[
			'plain text where TLS was spoken before: the request may be carried out',
			error('wrong version number', { code: 'ERR_SSL_WRONG_VERSION_NUMBER' }),
			'unanswered',
		],
		[
			'an alert after the handshake',
			error('x', { code: 'ERR_SSL_TLSV1_ALERT_INTERNAL' }),
			'unanswered',
		],
		[
			'connect timed out in the system',
			error('connect ETIMEDOUT', { code: 'ETIMEDOUT', syscall: 'connect' }),
			'unconnected',
		],
		[
			'expired certificate',
			error('certificate has expired', { code: 'CERT_HAS_EXPIRED' }),
			'impossible',
		],
		[
			'self-signed',
			error('self-signed certificate', { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }),
			'impossible',
		],
		['wrong name', error('x', { code: 'ERR_TLS_CERT_ALTNAME_INVALID' }), 'impossible'],
		[
			'cut before TLS',
			error('Client network socket disconnected before secure TLS connection was established', {
				code: 'ECONNRESET',
			}),
			'unconnected',
		],
		['refused by n8n', error('blocked', { name: 'SsrfBlockedIpError' }), 'impossible'],
		['wrapped', error('outer', { cause: error('inner', { syscall: 'connect' }) }), 'unconnected'],
		[
			'several addresses',
			error('all failed', { errors: [error('one', { code: 'ECONNREFUSED', syscall: 'connect' })] }),
			'unconnected',
		],
		['reset', error('socket hang up', { code: 'ECONNRESET' }), 'unanswered'],
		[
			'reset while reading',
			error('read ECONNRESET', { code: 'ECONNRESET', syscall: 'read' }),
			'unanswered',
		],
		['broken pipe', error('write EPIPE', { code: 'EPIPE', syscall: 'write' }), 'unanswered'],
		['timeout', error('timeout of 20000ms exceeded', { code: 'ECONNABORTED' }), 'unanswered'],
		['timeout without a syscall', error('x', { code: 'ETIMEDOUT' }), 'unanswered'],
		['unparsable answer', error('Parse Error', { code: 'HPE_INVALID_CONSTANT' }), 'unanswered'],
		['cancelled', error('canceled', { code: 'ERR_CANCELED' }), 'unanswered'],
		...[
			{ code: 'ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC' },
			{ code: 'ERR_SSL_BAD_CERT_TYPE' },
			{ code: 'EPROTO', syscall: 'write' },
			{ code: 'ENETUNREACH', syscall: 'write' },
			{ code: 'EHOSTDOWN', syscall: 'read' },
			{ name: 'NotSsrfAtAll' },
			{ code: 11001 },
		].map((fields) => [JSON.stringify(fields), error('x', fields), 'unanswered'] as const),
		...[{ code: 'EAI_AGAIN' }, { code: 'EAI_OTHER', syscall: 'getaddrinfo' }].map(
			(fields) => [JSON.stringify(fields), error('x', fields), 'unconnected'] as const,
		),
		['an unknown issuer', error('x', { code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' }), 'impossible'],
		['a text', 'ECONNREFUSED', 'unanswered'],
		['nothing', undefined, 'unanswered'],
	])('%s', (_name, thrown, expected) => {
		expect(connectionOf(thrown)).toBe(expected);
	});

	test('causes that form a circle end', () => {
		const circular = error('round');
		Object.assign(circular, { cause: circular });
		expect(connectionOf(circular)).toBe('unanswered');
		expect(reasonOf(circular)).toBe('round');
	});
});

test.each<[unknown, string]>([
	[error('socket hang up', { code: 'ECONNRESET' }), 'socket hang up: the connection was reset'],
	[
		error('connect ECONNREFUSED 1.2.3.4:80', { code: 'ECONNREFUSED' }),
		'the connection was refused',
	],
	[
		error('outer', { cause: error('inner', { code: 'EPIPE' }) }),
		'inner: the connection was closed',
	],
	[error('Parse Error', { code: 'HPE_INVALID_CONSTANT' }), 'Parse Error (HPE_INVALID_CONSTANT)'],
	[
		error('certificate has expired (CERT_HAS_EXPIRED)', { code: 'CERT_HAS_EXPIRED' }),
		'certificate has expired (CERT_HAS_EXPIRED)',
	],
	[error(''), 'the request failed'],
	[null, 'the request failed'],
])('reason: %#', (thrown, expected) => {
	expect(reasonOf(thrown)).toBe(expected);
});

test('a reason holds nothing of the request', () => {
	const thrown = error('timeout', { config: { headers: { Authorization: 'Bearer sk_secret' } } });
	expect(reasonOf(thrown)).toBe('timeout');
});

describe('codes that make n8n put a message of its own in the place of ours', () => {
	test.each([
		['ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:443', 'the connection was refused'],
		['ECONNRESET', 'read ECONNRESET', 'the connection was reset'],
		['ENOTFOUND', 'getaddrinfo ENOTFOUND api.example', 'the host name is not known'],
		['ETIMEDOUT', 'connect ETIMEDOUT 1.2.3.4:443', 'the connection timed out'],
		['ERRADDRINUSE', 'ERRADDRINUSE', 'the address is in use'],
		['EADDRNOTAVAIL', 'EADDRNOTAVAIL', 'the address is not available'],
		['ECONNABORTED', 'ECONNABORTED', 'the connection was aborted'],
		['EHOSTUNREACH', 'connect EHOSTUNREACH 1.2.3.4:443', 'the host is unreachable'],
		['EAI_AGAIN', 'getaddrinfo EAI_AGAIN api.example', 'the host name could not be looked up'],
		['ENOENT', 'ENOENT', 'no such file'],
		['EISDIR', 'EISDIR', 'a folder, not a file'],
		['ENOTDIR', 'ENOTDIR', 'not a folder'],
		['EACCES', 'EACCES', 'no access'],
		['EEXIST', 'EEXIST', 'it exists already'],
		['EPERM', 'EPERM', 'not permitted'],
		['GETADDRINFO', 'getaddrinfo failed', 'name look-up failed'],
	])('%s', (code, text, words) => {
		const shown = (message: string) => [
			new NodeApiError(NODE, {}, { message }).message,
			new NodeOperationError(NODE, message).message,
		];
		// The code is one of n8n's, in any spelling and anywhere in a text.
		const raw = `Task t1: ${code.toLowerCase()}.`;
		expect(shown(raw)).not.toContain(raw);
		for (const given of [text, `x ${text}`, `(${code})`, code.toLowerCase(), `x${code}y`]) {
			const message = `Task t1: ${withoutSocketCodes(given)}`;
			expect(shown(message)).toEqual([message, message]);
		}
		expect(withoutSocketCodes(text)).toBe(words);
	});

	test('any other text stays as it is', () => {
		const text = 'the voice "en-US-AriaNeural" is not known (HTTP 422: E_VOICE)';
		expect(withoutSocketCodes(text)).toBe(text);
	});
});

test.each<[string, unknown]>([
	['nothing', undefined],
	['a text', 'x'],
	['an object without words', {}],
	['an error without words', new Error('')],
])('%s that is thrown is still said in words', (_name, thrown) => {
	expect(reasonOf(thrown)).toBe('the request failed');
});

test('a code that the message has in words already is not said twice, and no code of a socket is shown', () => {
	const thrown = error('connect ECONNREFUSED 10.0.0.1:80', { code: 'ERR_OF_A_LIBRARY' });
	expect(reasonOf(thrown)).toBe('the connection was refused');
});

test('a cause without words leaves the words of what it caused', () => {
	expect(reasonOf(error('the answer broke off', { cause: { code: 7 } }))).toBe(
		'the answer broke off',
	);
});
