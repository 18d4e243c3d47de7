/** What an item's settings and its finished task are where a test is not about them. */
import type { Assembly } from '../../nodes/MediaGeneration/items/parts';
import type { FileSettings } from '../../nodes/MediaGeneration/actions/fileSettings';
import { parseTask, type Task } from '../../nodes/MediaGeneration/answers/task';
import type { Done } from '../../nodes/MediaGeneration/answers/verdict';

export const FILES: FileSettings = {
	download: true,
	outputBinaryField: 'data',
	maxFileBytes: 1_000_000,
	splitFiles: false,
	transcriptInOutput: false,
};
export const ASSEMBLY: Assembly = { longText: { kind: 'off' }, texts: [''] };

export function taskOf(raw: object): Task {
	const task = parseTask({ id: 't', status: 'done', metadata: {}, ...raw });
	if (task === undefined) throw new Error('no task');
	return task;
}
export const doneTask = (taskId: string, raw = {}): Done => ({
	...{ kind: 'done', taskId, task: taskOf({ id: taskId, ...raw }), outputs: [] },
});
