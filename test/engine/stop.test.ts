/** Stop means stop: at once, nothing sent afterwards, every paid task in the log. */
import { engineSetting, sound, steered } from './setting';
import { requestsBegun, until } from './hurry';

const setting = engineSetting();
const endless = { stand_in: { never_ends: true } };

/** Longer than any pause to the next poll or try would have been. */
const A_WHILE = 10 * 60_000;

test('Retry On Fail after a stop sends nothing, minimum credits or not', async () => {
	const { service } = setting;
	// Counted where requests begin: what is on its way when a run is stopped may reach the stand-in only afterwards.
	const begun = () => requestsBegun(service.baseUrl);
	const { error } = await setting.run({
		items: [endless, endless],
		parameters: { ...sound(), downloadOutput: false, options: { ...steered, minimumCredits: 1 } },
		settings: { retryOnFail: true, maxTries: 3, waitBetweenTries: 0 },
		stopWhen: until('a task polled', () => service.polls().length > 0),
	});
	const sent = begun();
	await new Promise((resolve) => setTimeout(resolve, A_WHILE));
	expect(begun()).toBe(sent);
	expect(error?.message).toMatch(/stopped|balance could not be read/);
	expect(service.creations()).toHaveLength(2);
	expect(service.requests.filter(({ route }) => route === 'credits')).toHaveLength(1);
});
