/**
 * Adds the key to a request. A user of the credential chooses the rest of it, e.g. in n8n's HTTP Request node, so only
 * fields that can't carry the key elsewhere pass, and what could is refused in words.
 */
import type { IHttpRequestOptions } from 'n8n-workflow';
import { normalizeBaseUrl, pathProblem } from './baseUrl';
import { onOneLine } from '../base/failures';
import { isObject, type JsonObject } from '../base/json';

/** Names fields of both helpers of n8n: the older one, which the HTTP Request node uses, has `uri`, `form`, `simple` and the like. */
const HARMLESS = new Set([
	'method',
	'qs',
	'arrayFormat',
	'qsStringifyOptions',
	'useQuerystring',
	'body',
	'form',
	'formData',
	'json',
	'gzip',
	'encoding',
	'useStream',
	'timeout',
	'abortSignal',
	'returnFullResponse',
	'resolveWithFullResponse',
	'ignoreHttpStatusErrors',
	'simple',
	'allowedDomains',
]);

/** These options send the request somewhere else, or over a connection that somebody else can read. */
const REFUSED_OPTIONS: Readonly<Record<string, string>> = {
	proxy: 'a proxy, which could read it. Set a proxy for the whole n8n instead (HTTPS_PROXY)',
	auth: 'a user name and password. Remove them',
	agent: 'an agent of its own',
	agents: 'an agent of its own',
	httpAgent: 'an agent of its own',
	httpsAgent: 'an agent of its own',
	agentOptions: 'connection options of its own, such as an SSL certificate',
	socketPath: 'a socket of its own',
	lookup: 'a name look-up of its own',
	localAddress: 'a local address of its own',
	transport: 'a transport of its own',
	adapter: 'a transport of its own',
};

/** Users set these headers. By others a server, or something before it, can send a request on to another host or path, or read it as two. */
const PASSED_HEADERS =
	/^(accept(-(charset|encoding|language))?|content-(type|language|encoding)|user-agent|(x-)?idempotency-key|(x-)?(request|correlation)-id|if-(none-)?match|if-(un)?modified-since|if-range|range|cache-control|pragma|prefer|traceparent|tracestate)$/;

/** TRACE answers with the request's own headers, and CONNECT makes of the service a proxy. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

const USE_BASE = 'Use an address under the Base URL';

function refusal(reason: string): Error {
	return new Error(`The API key was not added to the request: ${onOneLine(reason)}.`);
}

/** Throws where anything is switched on, except `rejectUnauthorized`. */
function checkConnection(request: JsonObject): void {
	for (const [name, words] of Object.entries(REFUSED_OPTIONS)) {
		const value = request[name];
		const isUnset = value === undefined || value === null || value === false || value === '';
		if (!isUnset && !(isObject(value) && Object.keys(value).length === 0))
			throw refusal(`it has ${words}`);
	}
	const { method = 'GET', skipSslCertificateValidation: skips = false } = request;
	if ((request.rejectUnauthorized ?? true) !== true || skips !== false)
		throw refusal(
			'it ignores SSL issues, so that anyone on the way could read the key. Turn "Ignore SSL Issues" off. For a certificate of your own set NODE_EXTRA_CA_CERTS for the whole n8n',
		);
	if (typeof method !== 'string' || !METHODS.has(method.toUpperCase()))
		throw refusal('its HTTP method is not supported. Use GET, POST or another usual one');
}

const isLine = (value: unknown) =>
	typeof value === 'string' ? !/[\0-\x08\n-\x1f\x7f]/.test(value) : !isObject(value);

/** Names are compared as n8n's HTTP client does. */
function headersWith(given: unknown, key: { name: string; value: string }): JsonObject {
	const headers: JsonObject = {};
	for (const [name, value] of Object.entries(isObject(given) ? given : {})) {
		const plain = name.trim().toLowerCase();
		if (value === undefined || value === null || plain === key.name.toLowerCase()) continue;
		// The HTTP client counts: a server could read what is beyond a given length as another request.
		if (plain === 'content-length') continue;
		if (!PASSED_HEADERS.test(plain))
			throw refusal(
				`it has the header "${name}". Only headers such as Accept, Content-Type, User-Agent, Idempotency-Key, X-Request-Id, Range and If-None-Match are sent along with the key. Remove that header`,
			);
		// The HTTP client takes objects for headers of a method, or of all.
		if (![value].flat().every(isLine)) throw refusal(`its header "${name}" is not a line of text`);
		headers[name] = value;
	}
	return { ...headers, [key.name]: key.value };
}

/** Throws where it could be read as two different addresses, or as one that is not under the Base URL. */
function targetOf({ baseURL, url, uri }: JsonObject, base: URL): URL {
	const named = [url, uri].flatMap((value) =>
		typeof value === 'string' || value instanceof URL ? [String(value)] : [],
	);
	const [address] = named;
	if (address === undefined) throw refusal(`it names no address. ${USE_BASE}`);
	if (named.some((other) => other !== address))
		throw refusal(`it names two addresses. ${USE_BASE}`);
	const isPath = typeof baseURL === 'string' && /^\/(?!\/)/.test(address);
	const whole = isPath ? baseURL.replace(/\/+$/, '') + address : address;
	if (!/^https?:\/\//i.test(whole) || !URL.canParse(whole))
		throw refusal(`its address is not a URL. ${USE_BASE}`);
	const target = new URL(whole);
	const isUnderBase =
		target.origin === base.origin &&
		`${target.pathname}/`.startsWith(`${base.pathname.replace(/\/+$/, '')}/`);
	if (!isUnderBase || target.username !== '' || target.password !== '')
		throw refusal(
			`it goes to ${target.origin}${target.pathname}, and the key is sent to ${base.origin}${base.pathname} only. ${USE_BASE}`,
		);
	const problem = pathProblem(target.pathname);
	if (problem !== undefined)
		throw refusal(`its path ${problem}, by which it could leave the Base URL`);
	return target;
}

/** Throws, in words without the key, where it could get anywhere but to the Base URL. @param credential one that was checked */
export function withKey(credential: JsonObject, given: object): IHttpRequestOptions {
	const request = given as JsonObject;
	const target = targetOf(request, new URL(normalizeBaseUrl(credential.baseUrl as string)));
	checkConnection(request);
	const apiKey = credential.apiKey as string;
	const key =
		credential.keyHeader === 'xi-api-key'
			? { name: 'xi-api-key', value: apiKey }
			: { name: 'Authorization', value: `Bearer ${apiKey}` };
	const passed = Object.entries(request).filter(([name]) => HARMLESS.has(name));
	return {
		...Object.fromEntries(passed),
		// The address is exactly what was checked, under the name by which it came.
		[request.url === undefined ? 'uri' : 'url']: target.href,
		headers: headersWith(request.headers, key),
		// n8n 2.41 would send the header along on redirects to other hosts. Its two helpers have different names for that.
		disableFollowRedirect: true,
		followRedirect: false,
		followAllRedirects: false,
		maxRedirects: 0,
		sendCredentialsOnCrossOriginRedirect: false,
	} as unknown as IHttpRequestOptions;
}
