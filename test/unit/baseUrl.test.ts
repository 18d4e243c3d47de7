import {
	apiKeyProblem,
	baseUrlProblem,
	callbackSecretProblem,
	isPrivateHost,
	normalizeBaseUrl,
} from '../../nodes/MediaGeneration/transport/baseUrl';

describe('base URL', () => {
	test.each([
		'https://api.example.com',
		' https://api.example.com/gateway/ ',
		'http://[::1]:8080',
		'http://172.16.0.1',
		'http://stand-in:5701',
		'http://media.internal',
	])('%s can be used', (value) => {
		expect(baseUrlProblem(value)).toBeUndefined();
	});

	test.each<[unknown, RegExp]>([
		['', /has no Base URL/],
		[42, /has no Base URL/],
		['api.example.com', /is not a URL/],
		['ftp://api.example.com', /starts with "ftp:"/],
		[' ', /has no Base URL/],
		['https://user@api.example.com', /user name or password/],
		['https://:pass@api.example.com', /user name or password/],
		['https://api.example.com?x=1', /query or a fragment/],
		['https://api.example.com/#part', /query or a fragment/],
		['http://api.example.com', /http for a public host/],
		['http://127.0.0.1.example.com', /http for a public host/],
		['http://localhost.example.com', /http for a public host/],
	])('%j is refused in words', (value, words) => {
		expect(baseUrlProblem(value)).toMatch(words);
	});

	test.each([
		['https://api.example.com/', 'https://api.example.com'],
		[' https://api.example.com/a// ', 'https://api.example.com/a'],
	])('%j becomes %j', (value, expected) => {
		expect(normalizeBaseUrl(value)).toBe(expected);
	});

	test.each([
		['LOCALHOST', true],
		['169.254.1.1', true],
		['my.machine.local', true],
		['127.0.0.1.', true],
		['100.64.0.1', true],
		['172.20.0.1', true],
		['240.0.0.1', true],
		['100.110.0.1', true],
		['localhost..', true],
		['198.18.0.1', true],
		['[::ffff:192.168.1.5]', true],
		['[64:ff9b::a00:1]', true],
		['localhost.localdomain', true],
		['[2002:a00:1:5::9]', true],
		['[2001::1]', true],
		['[ff02::1]', true],
		// Numbers of a private network, but not where it is told by.
		['8.10.0.1', false],
		['172.32.0.1', false],
		['[2002:808:808::1]', true],
		['[2606::fd00]', false],
		['[2001:db8::ffff:a00:1]', false],
		['my.local.example.com', false],
		['100.63.255.255', false],
		['198.20.0.1', false],
		['[2001:4860:4860::8888]', false],
		['223.255.255.255', false],
		['100.64.example.com', false],
		['example.com', false],
	])('%s is private: %j', (host, expected) => {
		expect(isPrivateHost(host)).toBe(expected);
	});
});

describe('API key', () => {
	test.each(['sk_3fA9-b_c', ' sk_3fA9-b_c\n', 'sk_12345'])('%j is a key', (value) => {
		expect(apiKeyProblem(value)).toBeUndefined();
	});
	test.each<[unknown, RegExp]>([
		['', /has no API key/],
		[' ', /has no API key/],
		[42, /has no API key/],
		['pk_secret-value', /does not start with "sk_"/],
		['sk_', /is too short\. Copy the whole key/],
		['sk_1234', /is too short/],
		['sk_secret/value+', /spaces or other characters/],
		['sk_secret value', /spaces or other characters/],
	])('%j is refused in words that do not repeat it', (value, words) => {
		const problem = apiKeyProblem(value);
		expect(problem).toMatch(words);
		expect(problem).not.toMatch(/secret|value/);
	});
});

describe('callback secret', () => {
	test.each([undefined, null, '', 'sixteen letters!', 'x'.repeat(200)])('%j is fine', (value) => {
		expect(callbackSecretProblem(value)).toBeUndefined();
	});
	test.each<[unknown, RegExp]>([
		['task', /shorter than 16 characters. Enter a long random text, or leave it empty/],
		[' '.repeat(20), /shorter than 16 characters/],
		[1234567890123456, /is not a text/],
	])('%j is refused in words that do not repeat it', (value, words) => {
		const problem = callbackSecretProblem(value);
		expect(problem).toMatch(words);
		expect(problem).not.toContain(String(value));
	});
});
