/** Looks whose answers never end, over a real connection: a wait lasts no longer than its Timeout. */
import type { FaultAction } from '../service';
import { engineSetting, goOn, sound } from './setting';

const setting = engineSetting();

describe('no longer than its Timeout', () => {
	test.each<[string, FaultAction]>([
		['come a byte at a time', { type: 'drip' }],
		['are never answered', { type: 'stall' }],
		['are to come back later', { type: 'status', status: 503, headers: { 'retry-after': '120' } }],
	])('looks that %s: timed_out, and the task is named', async (_, action) => {
		setting.service.faults.add({ route: 'poll', action });
		const { output } = await setting.runWithin(12_000, {
			parameters: { ...sound(), downloadOutput: false, options: { timeout: 2 } },
			settings: goOn,
			credentials: setting.ownAccount(),
		});
		const [task] = setting.service.creations();
		expect(output[0]?.json).toMatchObject({ outcome: 'timed_out', task_id: task?.id });
	});
});
