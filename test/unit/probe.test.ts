/** The probe against the stand-in: nothing to do where it behaves as the nodes expect, and advice where it does not. */
import { printed, probe, type ProbeOptions } from '../../scripts/questions';
import { type SettingsPatch, type StandIn, startService } from '../service';

let service: StandIn | undefined;
afterEach(async () => await service?.close());

async function run(settings: SettingsPatch = {}, options: Partial<ProbeOptions> = {}) {
	service = await startService({ settings: { taskMs: 40, ...settings } });
	const { baseUrl, apiKey } = service;
	const pace = { port: 0, patience: 10, pollMs: 5, log: () => undefined };
	const findings = await probe({ baseUrl, apiKey, ...pace, ...options });
	const advised = findings.filter(({ advice }) => advice !== undefined);
	return { service, findings, advised: advised.map(({ question }) => question) };
}

const whole: SettingsPatch = { moreRoutes: true, lists: { tasks: true } };

it('makes nothing, unless it is told to spend', async () => {
	const { service: standIn, findings } = await run(whole);
	expect(standIn.creations()).toEqual([]);
	expect(findings.length).toBeGreaterThan(10);
	expect(printed(findings)).not.toContain(standIn.apiKey);
});

it('makes one task with --spend, and sends the key to the service alone', async () => {
	const { service: standIn, advised } = await run(whole, { spend: true });
	expect(standIn.creations()).toHaveLength(1);
	expect(advised).not.toContain('Its files');
	const others = standIn.requests.filter(({ host }) => host !== 'api');
	expect(others.length).toBeGreaterThan(0);
	expect(JSON.stringify(others)).not.toContain(standIn.apiKey);
});

it('says what to do without a list of tasks', async () => {
	const { findings, advised } = await run({ lists: { tasks: false } });
	expect(advised).toContain('List of tasks');
	expect(printed(findings)).toContain('can not be found again: look at the account');
});
