/**
 * Adds the key to a request. A user of the credential chooses the rest of it, e.g. in n8n's HTTP Request node, so only what can't carry
 * the key elsewhere passes.
 */
import type { IHttpRequestOptions } from 'n8n-workflow';
import { credentialsIn } from './credentialFields';
import { onOneLine } from '../base/words';
import { isObject, type JsonObject } from '../base/json';
import { pathProblem, urlOf } from '../base/url';

/** Options of both HTTP helpers of n8n: the older one, which the HTTP Request node uses, has `form`, `simple` and the like. Others are dropped. */
const PASSED_OPTIONS =
	/^(method|qs|arrayFormat|qsStringifyOptions|useQuerystring|body|form|formData|json|gzip|encoding|useStream|timeout|abortSignal|returnFullResponse|resolveWithFullResponse|ignoreHttpStatusErrors|simple|allowedDomains)$/;

/** Options that users can set and would miss, but with which the key could be read on the way, or replaced. */
const REFUSED_OPTIONS = ['proxy', 'auth', 'agentOptions'];

/** Headers that users set. Others can make a server or a proxy forward a request to another host or path, or read it as two. */
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
	// TRACE answers with the request's own headers, and CONNECT turns the service into a proxy.
	const isUsual = /^(get|head|post|put|patch|delete|options)$/i.test(String(method));
	return isUsual ? undefined : 'its method is not one of the usual ones';
}

/** Returns the headers to send beside the key, without another key, and without the length, which n8n's HTTP client sets. */
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
	const problem = pathProblem(target.pathname.slice(base.pathname.length));
	return problem && `its path ${problem}`;
}

/** Throws an error without the key if the key could get anywhere but to the Base URL. @param credential checked already */
export function withKey(credential: JsonObject, given: object): IHttpRequestOptions {
	const request = given as JsonObject;
	const { baseUrl, apiKey } = credentialsIn(credential);
	const base = new URL(baseUrl);
	const [keyHeader, value] =
		credential.keyHeader === 'xi-api-key'
			? ['xi-api-key', apiKey]
			: ['Authorization', `Bearer ${apiKey}`];
	const headers = headersBeside(keyHeader, request.headers);
	const other = Object.keys(headers).find((name) => !PASSED_HEADERS.test(name.toLowerCase()));
	const target = targetOf(request);
	const problem =
		(target === undefined ? 'it has no complete address' : targetProblem(target, base)) ??
		optionsProblem(request) ??
		(other && `it has the header "${onOneLine(other)}"`);
	if (target === undefined || problem !== undefined)
		throw new Error(
			`The API key was not added to the request: ${problem}. The key is sent to addresses under ${base.href} only, with headers such as Accept, Content-Type, User-Agent, Idempotency-Key or Range. For a proxy or a certificate of your own, set HTTPS_PROXY or NODE_EXTRA_CA_CERTS for the whole n8n.`,
		);
	return {
		...Object.fromEntries(Object.entries(request).filter(([name]) => PASSED_OPTIONS.test(name))),
		// The address is exactly what was checked, under the name that it had.
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
