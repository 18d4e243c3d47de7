/**
 * Reads what n8n's HTTP helper throws. Pure. What matters for payment is one question: can the service have seen the
 * request? Only a connection that was never made says no for certain (issue: "The retry rules").
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

const REFUSED = new Set([
	'ECONNREFUSED',
	'EAI_AGAIN',
	'EHOSTUNREACH',
	'ENETUNREACH',
	'EHOSTDOWN',
	'ENETDOWN',
]);
const NO_SUCH_HOST = new Set(['ENOTFOUND', 'EAI_FAIL', 'EAI_NONAME', 'ERR_INVALID_URL']);
const TLS =
	/^(CERT_|ERR_TLS_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO_SELF_SIGNED|HOSTNAME_MISMATCH|EPROTO$|ERR_SSL_WRONG_VERSION)/;
const BEFORE_TLS = /before secure TLS connection was established/i;

/**
 * Whether the connection was never made, and if so whether trying again soon is pointless.
 * A time-out counts as never connected only where the operating system reports it for `connect`.
 */
export function neverConnected(error: unknown): { never: boolean; permanent: boolean } {
	for (const { code, syscall, message, name } of chainOf(error)) {
		const words = typeof code === 'string' ? code : '';
		if (NO_SUCH_HOST.has(words) || TLS.test(words)) return { never: true, permanent: true };
		if (typeof name === 'string' && /^Ssrf/.test(name)) return { never: true, permanent: true };
		if (REFUSED.has(words)) return { never: true, permanent: false };
		if (syscall === 'connect' || syscall === 'getaddrinfo')
			return { never: true, permanent: false };
		if (typeof message === 'string' && BEFORE_TLS.test(message))
			return { never: true, permanent: false };
	}
	return { never: false, permanent: false };
}

export function wasAborted(error: unknown): boolean {
	return chainOf(error).some(
		({ code, name }) =>
			code === 'ERR_CANCELED' || name === 'AbortError' || name === 'CanceledError',
	);
}

/** A short reason in words, e.g. "timeout of 20000ms exceeded (ECONNABORTED)". Holds nothing of the request. */
export function reasonOf(error: unknown): string {
	const chain = chainOf(error);
	const deepest = [...chain]
		.reverse()
		.find(({ message }) => typeof message === 'string' && message !== '');
	const message = typeof deepest?.message === 'string' ? deepest.message : 'the request failed';
	const code = chain.map((entry) => entry.code).find((entry) => typeof entry === 'string');
	return code === undefined || message.includes(code) ? message : `${message} (${code})`;
}
