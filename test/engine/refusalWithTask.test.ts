/** A refusal that names a task anywhere in it is not "nothing was paid". */
import type { IDataObject } from 'n8n-workflow';
import type { FaultAction } from '../service';
import { again, engineSetting, goOn, sound } from './setting';

const setting = engineSetting();

describe('sent once, and taken up or called unclear', () => {
	const named: Array<[string, object]> = [
		['at the root', { success: false, error: 'slow', task_id: 'task-1' }],
		['under data', { success: false, message: 'slow', data: { task_id: 'task-1' } }],
		['under error', { success: false, error: { message: 'slow', task_id: 'task-1' } }],
		['under task', { success: false, task: { task_id: 'task-1', status: 'doing' } }],
		['in a list', { success: false, data: { tasks: [{ task_id: 'task-1' }] } }],
	];
	const actions = named.flatMap(([name, body]) =>
		[200, 400, 429].map((status): [string, number, FaultAction] => [
			name,
			status,
			{ type: 'processThenStatus', status, body },
		]),
	);
	test.each(actions)('%s, HTTP %d', async (_, __, action) => {
		setting.service.faults.add({ route: 'create', action });
		const { output } = await setting.run({
			parameters: { ...sound(), waitForCompletion: false, options: { timeout: 2 } },
			settings: { ...goOn, ...again },
			credentials: setting.ownAccount(),
		});
		expect(setting.attempts()).toBe(1);
		const json: IDataObject = output[0]?.json ?? {};
		// Either the task was recognised, or it is said that one may exist.
		if (json.task_id === undefined) expect(json.outcome).toBe('unknown');
		else expect(json.task_id).toBe('task-1');
		expect(JSON.stringify(json)).not.toMatch(/nothing was paid|no task was created/i);
	});
});
