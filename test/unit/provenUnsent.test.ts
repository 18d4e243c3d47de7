/** Only what proves that no request was sent counts as "never connected". */
import { connectionOf } from '../../nodes/MediaGeneration/service/networkError';

const error = (fields: object) => Object.assign(new Error('x'), fields);

test.each<[string, object]>([
	['a plain-text answer on a TLS socket', { code: 'ERR_SSL_WRONG_VERSION_NUMBER' }],
	['a bad record', { code: 'ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC' }],
	['a TLS protocol error while writing', { code: 'EPROTO', syscall: 'write' }],
	['no route any more, while reading', { code: 'EHOSTUNREACH', syscall: 'read' }],
	['the network went down while reading', { code: 'ENETDOWN', syscall: 'read' }],
	['the network became unreachable while writing', { code: 'ENETUNREACH', syscall: 'write' }],
	['the host went down while reading', { code: 'EHOSTDOWN', syscall: 'read' }],
	['no route, nobody knows when', { code: 'EHOSTUNREACH' }],
	['refused, nobody knows when', { code: 'ECONNREFUSED' }],
	['timed out while reading', { code: 'ETIMEDOUT', syscall: 'read' }],
	['a certificate that the other side asks for', { code: 'ERR_SSL_BAD_CERT_TYPE' }],
	['an error of whatever name', { name: 'NotSsrfAtAll' }],
	['a code that is no text', { code: 11001 }],
])('may have been sent: %s', (_, fields) => {
	expect(connectionOf(error(fields))).toBe('unanswered');
	expect(connectionOf(error({ cause: error(fields) }))).toBe('unanswered');
});

test.each<[string, object]>([
	['refused', { code: 'ECONNREFUSED', syscall: 'connect' }],
	['no route', { code: 'EHOSTUNREACH', syscall: 'connect' }],
	['network unreachable', { code: 'ENETUNREACH', syscall: 'connect' }],
	['timed out', { code: 'ETIMEDOUT', syscall: 'connect' }],
	['no such name', { code: 'ENOTFOUND', syscall: 'getaddrinfo' }],
	['no name server', { code: 'EAI_AGAIN', syscall: 'getaddrinfo' }],
	['no name server, whatever call it was', { code: 'EAI_AGAIN' }],
	['a look-up that failed in another way', { code: 'EAI_OTHER', syscall: 'getaddrinfo' }],
	['an expired certificate', { code: 'CERT_HAS_EXPIRED' }],
	['a certificate of its own', { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }],
	['an unknown issuer', { code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' }],
	['a certificate for another name', { code: 'ERR_TLS_CERT_ALTNAME_INVALID' }],
])('was never sent: %s', (_, fields) => {
	expect(connectionOf(error(fields))).not.toBe('unanswered');
	expect(connectionOf(error({ cause: error(fields) }))).not.toBe('unanswered');
});
