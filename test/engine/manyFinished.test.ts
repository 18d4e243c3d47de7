/** More tasks than are looked at at once, all of them over at the first look. */
import { engineSetting, sound } from './setting';

const setting = engineSetting({ taskMs: 0 });
const COUNT = 45;

test('Task: Wait for 45 tasks that are over: none waits for anything', async () => {
	const { output: created } = await setting.run({
		items: Array.from({ length: COUNT }, () => ({})),
		parameters: { ...sound(), waitForCompletion: false, options: { maxActiveTasks: COUNT } },
	});
	const ids = created.map(({ json }) => json.task_id);
	const { output } = await setting.runWithin(60_000, {
		items: ids.map((id) => ({ task_id: id as string })),
		parameters: { resource: 'task', operation: 'wait', downloadOutput: false },
	});
	expect(output.map(({ json }) => json.task_id)).toEqual(ids);
	expect(output.map(({ json }) => json.status)).toEqual(Array(COUNT).fill('done'));
}, 90_000);
