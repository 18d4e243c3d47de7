/** Stop means stop: at once, nothing sent afterwards, every paid task in the log. */
import { engineSetting, sound, steered } from './setting';
import { requestsBegun, until } from './hurry';

const setting = engineSetting();
const parameters = { ...sound(), downloadOutput: false, options: steered };
const endless = { stand_in: { never_ends: true } };

/** Longer than any pause to the next poll or try would have been. */
const A_WHILE = 10 * 60_000;

/**
 * Runs the node, then lets time pass: nothing may be sent after the run. Counted where requests begin, as what is on its way when a run
 * is stopped may reach the stand-in only afterwards.
 */
async function runAndNothingMore(options: Parameters<typeof setting.run>[0]) {
	const { baseUrl } = setting.service;
	const before = requestsBegun(baseUrl);
	const result = await setting.run(options);
	const sent = requestsBegun(baseUrl) - before;
	await new Promise((resolve) => setTimeout(resolve, A_WHILE));
	expect(sent).toBeGreaterThan(0);
	expect(requestsBegun(baseUrl) - before).toBe(sent);
	return result;
}

test('during a download: nothing is fetched afterwards', async () => {
	const { service } = setting;
	service.faults.add({ route: 'file', action: { type: 'stall' } });
	const { error } = await runAndNothingMore({
		parameters: sound(),
		stopWhen: until('a file under way', () =>
			service.requests.some(({ route }) => route === 'file'),
		),
	});
	expect(error?.message).toMatch(/the download was stopped$/);
	expect(service.requests.filter(({ route }) => route === 'file')).toHaveLength(1);
});

test('Retry On Fail after a stop sends nothing, minimum credits or not', async () => {
	const { service } = setting;
	const { error } = await runAndNothingMore({
		items: [endless, endless],
		parameters: { ...parameters, options: { ...steered, minimumCredits: 1 } },
		settings: { retryOnFail: true, maxTries: 3, waitBetweenTries: 0 },
		stopWhen: until('a task polled', () => service.polls().length > 0),
	});
	expect(error?.message).toMatch(/stopped|balance could not be read/);
	expect(service.creations()).toHaveLength(2);
	expect(service.requests.filter(({ route }) => route === 'credits')).toHaveLength(1);
});
