/**
 * Adds the key to a request. A user of the credential chooses the rest of it, e.g. in n8n's HTTP Request node, so only what can't carry
 * the key elsewhere passes.
 */
import type { IHttpRequestOptions } from 'n8n-workflow';
import { normalizeBaseUrl, pathProblem } from './baseUrl';
import { onOneLine } from '../base/failures';
import { isObject, urlOf, type JsonObject } from '../base/json';

/** Options of both helpers of n8n: the older one, which the HTTP Request node uses, has `form`, `simple` and the like. Others are dropped. */
const PASSED_OPTIONS =
	/^(method|qs|arrayFormat|qsStringifyOptions|useQuerystring|body|form|formData|json|gzip|encoding|useStream|timeout|abortSignal|returnFullResponse|resolveWithFullResponse|ignoreHttpStatusErrors|simple|allowedDomains)$/;

/** Users can set these options, and would miss them. With them the key could be read on the way, or replaced. */
const REFUSED_OPTIONS = ['proxy', 'auth', 'agentOptions'];

/** Headers that users set. By others a server, or something before it, can send a request on to another host or path, or read it as two. */
const PASSED_HEADERS =
	/^(accept(-(charset|encoding|language))?|content-(type|language|encoding)|user-agent|(x-)?idempotency-key|(x-)?(request|correlation)-id|if-(none-)?match|if-(un)?modified-since|if-range|range|cache-control|pragma|prefer|traceparent|tracestate)$/;

const isSet = (value: unknown) =>
	isObject(value) ? Object.keys(value).length > 0 : Boolean(value);

function optionsProblem(request: JsonObject): string | undefined {
	const option = REFUSED_OPTIONS.find((name) => isSet(request[name]));
	if (option !== undefined) return `it has the option "${option}"`;
	const { method = 'GET', rejectUnauthorized = true, skipSslCertificateValidation } = request;
	if (rejectUnauthorized !== true || isSet(skipSslCertificateValidation))
		return 'it ignores SSL issues';
	// TRACE answers with the request's own headers, and CONNECT makes a proxy of the service.
	const isUsual = /^(get|head|post|put|patch|delete|options)$/i.test(String(method));
	return isUsual ? undefined : 'its method is not one of the usual ones';
}

/** The headers that are sent beside the key: n8n's HTTP client sets another key and the length itself. */
function headersBeside(keyHeader: string, given: unknown): JsonObject {
	const own = ['content-length', keyHeader.toLowerCase()];
	const headers = Object.entries(isObject(given) ? given : {});
	return Object.fromEntries(
		headers.filter(([name, value]) => isSet(value) && !own.includes(name.trim().toLowerCase())),
	);
}

function targetOf({ baseURL, url, uri }: JsonObject): URL | undefined {
	const address = String(url ?? uri);
	const start = typeof baseURL === 'string' ? baseURL.replace(/\/+$/, '') : '';
	return urlOf(/^https?:\/\//i.test(address) ? address : start + address);
}

function targetProblem(target: URL, base: URL): string | undefined {
	const isUnderBase =
		target.origin === base.origin &&
		`${target.pathname}/`.startsWith(`${base.pathname.replace(/\/+$/, '')}/`);
	if (!isUnderBase) return `it goes to ${target.origin}${target.pathname}`;
	if (target.username !== '' || target.password !== '') return 'its address has a user name';
	const problem = pathProblem(target.pathname);
	return problem && `its path ${problem}`;
}

/** Throws, in words without the key, if it could get anywhere but to the Base URL. @param credential one that was checked */
export function withKey(credential: JsonObject, given: object): IHttpRequestOptions {
	const request = given as JsonObject;
	const base = new URL(normalizeBaseUrl(credential.baseUrl as string));
	const apiKey = (credential.apiKey as string).trim();
	const [keyHeader, value] =
		credential.keyHeader === 'xi-api-key'
			? ['xi-api-key', apiKey]
			: ['Authorization', `Bearer ${apiKey}`];
	const headers = headersBeside(keyHeader, request.headers);
	const other = Object.keys(headers).find((name) => !PASSED_HEADERS.test(name.toLowerCase()));
	const target = targetOf(request);
	const problem =
		(target === undefined ? 'it has no whole address' : targetProblem(target, base)) ??
		optionsProblem(request) ??
		(other && `it has the header "${onOneLine(other)}"`);
	if (target === undefined || problem !== undefined)
		throw new Error(
			`The API key was not added to the request: ${problem}. The key is sent to addresses under ${base.href} only, with headers such as Accept, Content-Type, User-Agent, Idempotency-Key or Range. For a proxy or a certificate of your own, set HTTPS_PROXY or NODE_EXTRA_CA_CERTS for the whole n8n.`,
		);
	return {
		...Object.fromEntries(Object.entries(request).filter(([name]) => PASSED_OPTIONS.test(name))),
		// The address is exactly what was checked, under the name by which it came.
		[request.url === undefined ? 'uri' : 'url']: target.href,
		headers: { ...headers, [keyHeader]: value },
		// n8n 2.41 would send the header along on redirects to other hosts. Its two helpers have different names for that.
		disableFollowRedirect: true,
		followRedirect: false,
		followAllRedirects: false,
		maxRedirects: 0,
		sendCredentialsOnCrossOriginRedirect: false,
	} as unknown as IHttpRequestOptions;
}
