/**
 * Reads what n8n's HTTP helper throws. Pure. What matters for payment is one question: can the service have seen the
 * request? Only where the connection was provably never made is the answer no: `connect` or the look-up of the name failed, or the
 * certificate was refused. Every other error can come after the request was sent (docs/service.md, "HTTP").
 */

interface ErrorLike {
	code?: unknown;
	syscall?: unknown;
	message?: unknown;
	name?: unknown;
	cause?: unknown;
	errors?: unknown;
}

/** The error and all its causes, outermost first; bounded, as causes can form a circle. */
function chainOf(error: unknown): ErrorLike[] {
	const chain: ErrorLike[] = [];
	let current: unknown = error;
	while (typeof current === 'object' && current !== null && chain.length < 10) {
		chain.push(current);
		const next: ErrorLike = current;
		current =
			next.cause ?? (Array.isArray(next.errors) ? (next.errors as unknown[])[0] : undefined);
	}
	return chain;
}

/** With these codes no request was sent, whatever reports them. */
const NO_SUCH_HOST = new Set(['ENOTFOUND', 'EAI_FAIL', 'EAI_NONAME', 'ERR_INVALID_URL']);
const NAME_SERVER_SILENT = new Set(['EAI_AGAIN']);
/** Node.js verifies the certificate before it sends the first byte of a request. */
const BAD_CERTIFICATE =
	/^(CERT_|UNABLE_TO_(GET|VERIFY)_|SELF_SIGNED_CERT|DEPTH_ZERO_SELF_SIGNED|HOSTNAME_MISMATCH|ERR_TLS_CERT_ALTNAME)/;
const BEFORE_TLS = /before secure TLS connection was established/i;

/**
 * How far a request came that has no answer: the other side may have it, or the connection was never made, so that nothing can have
 * been done; `impossible` where trying again soon is pointless, too: unknown host, bad certificate, refused by n8n's own protection.
 */
export type Connection = 'unanswered' | 'unconnected' | 'impossible';

export function connectionOf(error: unknown): Connection {
	for (const { code, syscall, message, name } of chainOf(error)) {
		const word = typeof code === 'string' ? code : '';
		if (NO_SUCH_HOST.has(word) || BAD_CERTIFICATE.test(word)) return 'impossible';
		// n8n's own protection against server-side request forgery refuses before anything is sent.
		if (typeof name === 'string' && /^Ssrf/.test(name)) return 'impossible';
		if (NAME_SERVER_SILENT.has(word) || syscall === 'connect' || syscall === 'getaddrinfo')
			return 'unconnected';
		if (typeof message === 'string' && BEFORE_TLS.test(message)) return 'unconnected';
	}
	return 'unanswered';
}

/** What the codes of Node.js mean, in words. n8n replaces every message that contains such a code with one of its own. */
const IN_WORDS: ReadonlyArray<readonly [RegExp, string]> = [
	[/(connect )?ECONNREFUSED( \S+)?/gi, 'the connection was refused'],
	[/((read|write) )?ECONNRESET/gi, 'the connection was reset'],
	[/(getaddrinfo )?ENOTFOUND( \S+)?/gi, 'the host name is not known'],
	[/(getaddrinfo )?EAI_\w+( \S+)?/gi, 'the host name could not be looked up'],
	[/((connect|read|write) )?(ETIMEDOUT|ESOCKETTIMEDOUT)( \S+)?/gi, 'the connection timed out'],
	[/ECONNABORTED/gi, 'the connection was aborted'],
	[
		/((connect|read) )?(EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ENETDOWN)( \S+)?/gi,
		'the host is unreachable',
	],
	[/(write )?EPIPE/gi, 'the connection was closed'],
	[/ERRADDRINUSE|EADDRINUSE/gi, 'the address is in use'],
	[/EADDRNOTAVAIL/gi, 'the address is not available'],
	[/ENOENT/gi, 'no such file'],
	[/EISDIR/gi, 'a folder, not a file'],
	[/ENOTDIR/gi, 'not a folder'],
	[/EACCES/gi, 'no access'],
	[/EEXIST/gi, 'it exists already'],
	[/EPERM/gi, 'not permitted'],
	[/GETADDRINFO/gi, 'name look-up'],
];

/** A text without codes such as ECONNRESET, for which n8n would show "You can retry the request immediately" instead. */
export function withoutSocketCodes(text: string): string {
	return IN_WORDS.reduce((clean, [code, words]) => clean.replace(code, words), text);
}

/** A short reason in words, e.g. "the connection was reset". Holds nothing of the request. */
export function reasonOf(error: unknown): string {
	const chain = chainOf(error);
	const deepest = [...chain]
		.reverse()
		.find(({ message }) => typeof message === 'string' && message !== '');
	const message = typeof deepest?.message === 'string' ? deepest.message : 'the request failed';
	const code = chain.map((entry) => entry.code).find((entry) => typeof entry === 'string');
	const inWords = withoutSocketCodes(message);
	if (code === undefined || inWords !== message || message.includes(code)) return inWords;
	const codeInWords = withoutSocketCodes(code);
	return codeInWords === code ? `${message} (${code})` : `${message}: ${codeInWords}`;
}
