/** What a credential may hold, and what is refused in which words. */
import {
	apiKeyProblem,
	baseUrlProblem,
	callbackSecretProblem,
	credentialProblem,
	credentialsIn,
} from '../../nodes/MediaGeneration/transport/credentialFields';

const PROBLEMS = {
	'Base URL': baseUrlProblem,
	'API key': apiKeyProblem,
	'Callback Secret': callbackSecretProblem,
};
type Field = keyof typeof PROBLEMS;

test.each<[Field, unknown[]]>([
	['Base URL', ['https://api.example.com', ' https://api.example.com/gateway/ ']],
	['Base URL', ['http://[::1]:8080', 'http://172.16.0.1', 'http://stand-in:1']],
	['API key', ['sk_3fA9-b_c', 'sk_12345', 'sk_a.b/c+d=~!{}', ' Bearer "sk_3fA9-b_c"\u200b\n']],
	['Callback Secret', [undefined, null, '', 'sixteen letters!', 'x'.repeat(200)]],
])('the %s can be each of %j', (field, values) => {
	expect(values.map(PROBLEMS[field])).toEqual(values.map(() => undefined));
});

test.each<[Field, unknown, RegExp]>([
	['Base URL', '', /has no Base URL/],
	['Base URL', 42, /has no Base URL/],
	['Base URL', ' ', /has no Base URL/],
	['Base URL', 'api.example.com', /is not a URL/],
	['Base URL', 'ftp://api.example.com', /starts with "ftp:"/],
	['Base URL', 'https://user@api.example.com', /user name or password/],
	['Base URL', 'https://:pass@api.example.com', /user name or password/],
	['Base URL', 'https://api.example.com?x=1', /query or a fragment/],
	['Base URL', 'https://api.example.com/#part', /query or a fragment/],
	['Base URL', 'http://127.0.0.1.example.com', /http for a public host.*turn on 'Allow HTTP/],
	['Base URL', 'http://localhost.example.com', /http for a public host/],
	['Base URL', 'http://[::ffff:8.8.8.8]', /http for a public host/],
	['Base URL', 'http://[64:ff9b::808:808]:80/a', /http for a public host/],
	['Base URL', 'http://[2002:808:808::1]', /http for a public host/],
	['Base URL', 'https://api.example..', /is not a URL/],
	['Base URL', `https://h${'/'.repeat(100_000)}`, /is too long/],
	['API key', ' ', /has no API key/],
	['API key', `sk_a${' '.repeat(100_000)}`, /is too long/],
	['API key', 42, /has no API key/],
	['API key', 'pk_secret-value', /does not start with "sk_"/],
	['API key', 'sk_1234', /is too short\. Copy the whole key/],
	...[
		'sk_secret value',
		'sk_secret"value',
		"sk_secret'value",
		'sk_secret\\value',
		'sk_secret-ü',
	].map((key): [Field, string, RegExp] => [
		'API key',
		key,
		/a space, a quote or another character/,
	]),
	['Callback Secret', 'task', /shorter than 16 characters. Enter a long random text, or leave/],
	['Callback Secret', ' '.repeat(20), /shorter than 16 characters/],
	['Callback Secret', 1234567890123456, /is not a text/],
])('the %s %j is refused, in words that repeat no secret', (field, value, words) => {
	const problem = PROBLEMS[field](value);
	expect(problem).toMatch(words);
	expect(problem).not.toMatch(/secret-|value|1234/);
});

test.each([
	['https://api.example.com/', 'https://api.example.com'],
	[' https://api.example.com/a// ', 'https://api.example.com/a'],
])('%j becomes %j', (value, expected) => {
	expect(credentialsIn({ baseUrl: value }).baseUrl).toBe(expected);
});

test.each(['http://tts.corp.example', 'http://gateway.media.svc:8080'])(
	'%s is accepted once somebody says so',
	(baseUrl) => {
		const fields = { baseUrl, apiKey: 'sk_3fA9-b_c' };
		expect(credentialProblem(fields)).toMatch(/'Allow HTTP \(Insecure\)'/);
		expect(credentialProblem({ ...fields, allowHttp: true })).toBeUndefined();
		expect(credentialProblem({ ...fields, allowHttp: 'true' })).toBeDefined();
	},
);
