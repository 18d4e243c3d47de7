import {
	connectionOf,
	reasonOf,
	type Connection,
	withoutSocketCodes,
} from '../../nodes/MediaGeneration/n8n/networkError';

const error = (message: string, fields: object = {}) => Object.assign(new Error(message), fields);

test.each<[Connection, object]>([
	['unconnected', { code: 'ECONNREFUSED', syscall: 'connect' }],
	['unconnected', { code: 'EAI_AGAIN' }],
	['unconnected', { code: 'EAI_OTHER', syscall: 'getaddrinfo' }],
	['unconnected', { code: 'ECONNRESET', message: 'before secure TLS connection was established' }],
	['unconnected', { message: 'Proxy connection ended before receiving CONNECT response' }],
	['unconnected', { errors: [error('one', { syscall: 'connect' })] }],
	['impossible', { code: 'ENOTFOUND', syscall: 'getaddrinfo' }],
	['impossible', { code: 'CERT_HAS_EXPIRED' }],
	['impossible', { code: 'ERR_TLS_CERT_ALTNAME_INVALID' }],
	['impossible', { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }],
	['impossible', { code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' }],
	['impossible', { name: 'SsrfBlockedIpError' }],
	['unanswered', { code: 'ECONNREFUSED' }],
	['unanswered', { code: 'EPROTO', syscall: 'write' }],
	['unanswered', { code: 'ECONNRESET', syscall: 'read' }],
	['unanswered', { code: 'ERR_CANCELED' }],
	['unanswered', { name: 'NotSsrfAtAll' }],
])(
	'can the service have seen the request? Only what proves that none was sent counts: %s: %j',
	(expected, fields) => {
		expect(connectionOf(error('x', fields))).toBe(expected);
		expect(connectionOf(error('outer', { cause: error('x', fields) }))).toBe(expected);
	},
);

test('causes that form a circle end', () => {
	const circular = error('round');
	Object.assign(circular, { cause: circular });
	expect(connectionOf(circular)).toBe('unanswered');
	expect(reasonOf(circular)).toBe('round');
});

const refused = { code: 'ECONNREFUSED' };
const closed = error('inner', { code: 'EPIPE' });
const expired = 'certificate has expired';
const untrusted = `its certificate is not trusted: ${expired}`;
test.each<[unknown, string]>([
	[error('socket hang up', { code: 'ECONNRESET' }), 'socket hang up: the connection was reset'],
	[error('connect ECONNREFUSED 1.2.3.4:80', refused), 'the connection was refused'],
	[error('outer', { cause: closed }), 'inner: the connection was closed'],
	[error('Parse Error', { code: 'HPE_INVALID_CONSTANT' }), 'Parse Error (HPE_INVALID_CONSTANT)'],
	[error(expired, { code: 'CERT_HAS_EXPIRED' }), untrusted],
	[error('outer', { cause: error(expired, { code: 'CERT_HAS_EXPIRED' }) }), untrusted],
	[error(''), 'the request failed'],
	[null, 'the request failed'],
])('reason: %#', (thrown, expected) => {
	expect(reasonOf(thrown)).toBe(expected);
});

test('a reason holds nothing of the request', () => {
	const thrown = error('timeout', { config: { headers: { Authorization: 'Bearer sk_secret' } } });
	expect(reasonOf(thrown)).toBe('timeout');
});

test.each([
	['connect ECONNREFUSED ::1:443', 'the connection was refused'],
	['getaddrinfo ENOTFOUND api.example', 'the host name is not known'],
	['getaddrinfo EAI_AGAIN api.example', 'the host name could not be looked up'],
	['connect ETIMEDOUT 1.2.3.4:443', 'the connection timed out'],
	// The service's own words.
	...['a preexisting job uses the name remoteAccess', 'resourcePermission', 'E_VOICE'].map(
		(text) => [text, text],
	),
])('%s is shown as: %s', (text = '', words) => {
	expect(withoutSocketCodes(text)).toBe(words);
});
