/** Reads what n8n's HTTP helper throws. */
import { asText, isObject, type JsonObject } from '../base/json';

/** Lists an error and its causes, outermost first; bounded, because they can form a circle. */
function chainOf(error: unknown): JsonObject[] {
	const chain: JsonObject[] = [];
	let current = error;
	while (isObject(current) && chain.length < 10) {
		chain.push(current);
		const { cause, errors } = current;
		current = cause ?? (Array.isArray(errors) ? (errors as unknown[])[0] : undefined);
	}
	return chain;
}

const NO_SUCH_HOST = new Set(['ENOTFOUND', 'EAI_FAIL', 'EAI_NONAME', 'ERR_INVALID_URL']);
/** Node.js verifies the certificate before it sends the first byte of a request. */
const BAD_CERTIFICATE =
	/^(CERT_|UNABLE_TO_(GET|VERIFY)_|SELF_SIGNED_CERT|DEPTH_ZERO_SELF_SIGNED|HOSTNAME_MISMATCH|ERR_TLS_CERT_ALTNAME)/;
/** The proxy that n8n uses (HTTPS_PROXY) can hang up on CONNECT, too (`https-proxy-agent` 7). */
const BEFORE_TLS =
	/before secure TLS connection was established|before receiving CONNECT response/i;

/**
 * How far a request without an answer got, which matters for payment: only an `unanswered` one can have reached the service.
 * The others made no connection, and retrying an `impossible` one soon is pointless, too.
 */
export type Connection = 'unanswered' | 'unconnected' | 'impossible';

export function connectionOf(error: unknown): Connection {
	for (const { code, syscall, message, name } of chainOf(error)) {
		const word = typeof code === 'string' ? code : '';
		if (NO_SUCH_HOST.has(word) || BAD_CERTIFICATE.test(word)) return 'impossible';
		// n8n's protection against server-side request forgery (N8N_SSRF_PROTECTION_ENABLED) refuses before anything is sent.
		if (typeof name === 'string' && /^Ssrf/.test(name)) return 'impossible';
		if (word === 'EAI_AGAIN' || syscall === 'connect' || syscall === 'getaddrinfo')
			return 'unconnected';
		if (typeof message === 'string' && BEFORE_TLS.test(message)) return 'unconnected';
	}
	return 'unanswered';
}

/** The codes that occur, in words. They match as complete words, because "a preexisting job" contains one, too. */
const IN_WORDS: ReadonlyArray<readonly [RegExp, string]> = [
	[/\b(connect )?ECONNREFUSED\b( [\d.:[\]a-f]+)?/g, 'the connection was refused'],
	[/\b((read|write) )?ECONNRESET\b/g, 'the connection was reset'],
	[/\b(getaddrinfo )?ENOTFOUND\b( [\w.-]+)?/g, 'the host name is not known'],
	[/\b(getaddrinfo )?EAI_AGAIN\b( [\w.-]+)?/g, 'the host name could not be looked up'],
	[/\b((connect|read) )?ETIMEDOUT\b( [\d.:[\]a-f]+)?/g, 'the connection timed out'],
	[/\b(write )?EPIPE\b/g, 'the connection was closed'],
];

export function withoutSocketCodes(text: string): string {
	return IN_WORDS.reduce((clean, [code, words]) => clean.replace(code, words), text);
}

/** Returns a short reason in words, e.g. "the connection was reset", and nothing of the request. */
export function reasonOf(error: unknown): string {
	const chain = chainOf(error);
	const message =
		chain.flatMap((entry) => asText(entry.message) ?? []).at(-1) ?? 'the request failed';
	const [code] = chain.flatMap((entry) => (typeof entry.code === 'string' ? entry.code : []));
	if (BAD_CERTIFICATE.test(code ?? '')) return `its certificate is not trusted: ${message}`;
	const inWords = withoutSocketCodes(message);
	if (code === undefined || inWords !== message || message.includes(code)) return inWords;
	const codeInWords = withoutSocketCodes(code);
	return codeInWords === code ? `${message} (${code})` : `${message}: ${codeInWords}`;
}
