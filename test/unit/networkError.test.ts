import {
	neverConnected,
	reasonOf,
	wasAborted,
} from '../../nodes/MediaGeneration/service/networkError';

const error = (message: string, fields: object = {}) => Object.assign(new Error(message), fields);

describe('can the service have seen the request?', () => {
	test.each<[string, unknown, boolean, boolean]>([
		[
			'refused',
			error('connect ECONNREFUSED', { code: 'ECONNREFUSED', syscall: 'connect' }),
			true,
			false,
		],
		[
			'unknown host',
			error('getaddrinfo ENOTFOUND', { code: 'ENOTFOUND', syscall: 'getaddrinfo' }),
			true,
			true,
		],
		[
			'DNS down',
			error('getaddrinfo EAI_AGAIN', { code: 'EAI_AGAIN', syscall: 'getaddrinfo' }),
			true,
			false,
		],
		['no route', error('x', { code: 'EHOSTUNREACH' }), true, false],
		[
			'connect timed out in the system',
			error('connect ETIMEDOUT', { code: 'ETIMEDOUT', syscall: 'connect' }),
			true,
			false,
		],
		[
			'expired certificate',
			error('certificate has expired', { code: 'CERT_HAS_EXPIRED' }),
			true,
			true,
		],
		[
			'self-signed',
			error('self-signed certificate', { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }),
			true,
			true,
		],
		['wrong name', error('x', { code: 'ERR_TLS_CERT_ALTNAME_INVALID' }), true, true],
		[
			'cut before TLS',
			error('Client network socket disconnected before secure TLS connection was established', {
				code: 'ECONNRESET',
			}),
			true,
			false,
		],
		['refused by n8n', error('blocked', { name: 'SsrfBlockedIpError' }), true, true],
		['wrapped', error('outer', { cause: error('inner', { code: 'ECONNREFUSED' }) }), true, false],
		[
			'several addresses',
			error('all failed', { errors: [error('one', { code: 'ECONNREFUSED', syscall: 'connect' })] }),
			true,
			false,
		],
		['reset', error('socket hang up', { code: 'ECONNRESET' }), false, false],
		[
			'reset while reading',
			error('read ECONNRESET', { code: 'ECONNRESET', syscall: 'read' }),
			false,
			false,
		],
		['broken pipe', error('write EPIPE', { code: 'EPIPE', syscall: 'write' }), false, false],
		['timeout', error('timeout of 20000ms exceeded', { code: 'ECONNABORTED' }), false, false],
		['timeout without a syscall', error('x', { code: 'ETIMEDOUT' }), false, false],
		['unparsable answer', error('Parse Error', { code: 'HPE_INVALID_CONSTANT' }), false, false],
		['cancelled', error('canceled', { code: 'ERR_CANCELED' }), false, false],
		['a text', 'ECONNREFUSED', false, false],
		['nothing', undefined, false, false],
	])('%s', (_name, thrown, never, permanent) => {
		expect(neverConnected(thrown)).toEqual({ never, permanent });
	});

	test('causes that form a circle end', () => {
		const circular = error('round');
		Object.assign(circular, { cause: circular });
		expect(neverConnected(circular)).toEqual({ never: false, permanent: false });
		expect(reasonOf(circular)).toBe('round');
	});
});

test.each<[unknown, boolean]>([
	[error('canceled', { code: 'ERR_CANCELED' }), true],
	[error('x', { name: 'AbortError' }), true],
	[error('x', { cause: error('y', { name: 'CanceledError' }) }), true],
	[error('x', { code: 'ECONNRESET' }), false],
])('aborted: %#', (thrown, expected) => {
	expect(wasAborted(thrown)).toBe(expected);
});

test.each<[unknown, string]>([
	[error('socket hang up', { code: 'ECONNRESET' }), 'socket hang up (ECONNRESET)'],
	[
		error('connect ECONNREFUSED 1.2.3.4:80', { code: 'ECONNREFUSED' }),
		'connect ECONNREFUSED 1.2.3.4:80',
	],
	[error('outer', { cause: error('inner', { code: 'EPIPE' }) }), 'inner (EPIPE)'],
	[error(''), 'the request failed'],
	[null, 'the request failed'],
	[{ message: 5 }, 'the request failed'],
])('reason: %#', (thrown, expected) => {
	expect(reasonOf(thrown)).toBe(expected);
});

test('a reason holds nothing of the request', () => {
	const thrown = error('timeout', { config: { headers: { Authorization: 'Bearer sk_secret' } } });
	expect(reasonOf(thrown)).toBe('timeout');
});
