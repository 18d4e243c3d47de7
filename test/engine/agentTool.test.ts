/** The node as a tool of an AI agent: n8n gives each try a run index of its own. */
import { again, engineSetting, sound } from './setting';

const setting = engineSetting();

test('a text that is another one in each try: still one task', async () => {
	const { answers, runs } = await setting.runTool({
		parameters: {
			...sound("={{ 'It is ' + $now.toMillis() }}"),
			downloadOutput: false,
			options: { timeout: 1, extraFields: '{"stand_in":{"ms":2200}}' },
		},
		settings: again,
	});
	expect(runs).toBeGreaterThan(1);
	expect(setting.attempts()).toBe(1);
	expect(answers).toMatchObject([{ ok: true, response: [{ status: 'done' }] }]);
});
