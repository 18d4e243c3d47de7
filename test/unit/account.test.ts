import { Account, accountOf, type Purpose } from '../../nodes/MediaGeneration/transport/account';
import type { Answer } from '../../nodes/MediaGeneration/answers/reply';
import { retryAfterMs } from '../../nodes/MediaGeneration/answers/limits';
import { saidIn } from '../../nodes/MediaGeneration/answers/said';
import { answer } from '../support/replies';

const NOW = Date.parse('2026-03-01T12:00:00Z');

test.each<[string, unknown, number | undefined]>([
	['seconds', '5', 5_000],
	['at once', '0', 0],
	['the first of several', ['3', '9'], 3_000],
	['an HTTP date', 'Sun, 01 Mar 2026 12:00:30 GMT', 30_000],
	['a date that has passed', 'Sun, 01 Mar 2026 11:00:00 GMT', 0],
	['more than five minutes', '86400', 300_000],
	['a negative number', '-5', undefined],
	['text', 'soon', undefined],
	['no header', undefined, undefined],
])('Retry-After: %s', (_name, header, expected) => {
	jest.spyOn(Date, 'now').mockReturnValue(NOW);
	expect(retryAfterMs({ 'retry-after': header })).toBe(expected);
	// By the clock of whoever answers.
	jest.spyOn(Date, 'now').mockReturnValue(NOW - 90_000);
	const date = new Date(NOW).toUTCString();
	expect(retryAfterMs({ 'retry-after': header, date })).toBe(expected);
	jest.restoreAllMocks();
});

describe('accounts', () => {
	test('are shared by base URL and key, and by nothing less', () => {
		const account = accountOf('https://a.example', 'sk_1');
		expect(accountOf('https://a.example', 'sk_1')).toBe(account);
		expect(accountOf('https://a.example', 'sk_2')).not.toBe(account);
		expect(accountOf('https://b.example', 'sk_1')).not.toBe(account);
	});

	test('a pause is only ever made longer, and never beyond five minutes; 30 s for callbacks', () => {
		const account = new Account();
		expect(account.pausedUntil('create')).toBe(0);
		account.pause('create', NOW, 10_000);
		account.pause('create', NOW, 4_000);
		expect(account.pausedUntil('create')).toBe(NOW + 10_000);
		account.pause('create', NOW, 9_999_999);
		expect(account.pausedUntil('create')).toBe(NOW + 300_000);
		account.pause('callback', NOW, 300_000);
		expect(account.pausedUntil('callback')).toBe(NOW + 30_000);
	});

	test('the end of a task that this process made leaves one slot, and what is noted again makes it no younger', () => {
		const { made } = new Account();
		made.add('own', NOW);
		for (const id of ['own', 'own', "yesterday's"]) made.noteEnd(id);
		made.add('own', NOW + 1);
		made.noteEnd('own');
		expect([NOW, NOW + 1].map((since) => made.wasMadeSince('own', since))).toEqual([true, false]);
		expect(made.ends).toBe(1);
	});

	const learned = (purpose: Purpose, reply: Answer) => {
		const account = new Account();
		account.noteThrottling(purpose, saidIn(reply, []), NOW);
		return (['create', 'poll', 'read'] as const).map((each) => account.pausedUntil(each));
	};
	const after = { 'retry-after': '4' };

	test.each<[Purpose, number[]]>([
		['create', [NOW + 4_000, 0, 0]],
		['poll', [0, NOW + 4_000, 0]],
		['read', [0, 0, NOW + 4_000]],
		['callback', [0, 0, 0]],
	])('a pause is about what it was said of: %s', (purpose, expected) => {
		expect(learned(purpose, answer(503, '', after))).toEqual(expected);
		expect(learned(purpose, answer(429, '', after))).toEqual(expected);
	});

	test.each<[string, Answer]>([
		['429 without Retry-After', answer(429)],
		['200 with it', answer(200, '', after)],
		[
			'a daily cap that ends tomorrow, which is about money',
			answer(429, { error: 'Daily cap' }, { 'retry-after': 40_000 }),
		],
	])('no pause after %s', (_name, given) => {
		expect(learned('create', given)).toEqual([0, 0, 0]);
	});
});
