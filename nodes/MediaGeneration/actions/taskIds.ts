/** IDs of tasks that users enter: the field, how it is read, and what is refused. */
import { invalid } from '../base/outcomes';
import { readJson } from '../base/bounded';
import { asText, textsBetweenCommas } from '../base/json';
import { idProblem } from '../base/url';
import type { ItemFields } from './fields';
import * as ui from './ui';

export const taskIdField = ui.text('Task ID', 'taskId', {
	required: true,
	placeholder: 'e.g. 7f9c2ba4',
});

export function checkedTaskId(taskId: string): string {
	const problem = idProblem(taskId);
	if (problem === undefined) return taskId;
	throw invalid(
		`The Task ID can't be used: it ${problem}`,
		'Enter the task_id that the service returned when the task was created, and nothing else.',
	);
}

export function readTaskId(item: ItemFields): string {
	return checkedTaskId(item.requiredText(taskIdField));
}

/** Reads a list, its JSON, or a text in which commas separate the IDs. @param own the ID that the item itself has: it may contain a comma */
export function readTaskIds(item: ItemFields, own?: string): string[] {
	const value = item.raw(taskIdField.name);
	const given: unknown = Array.isArray(value) ? value : item.requiredText(taskIdField);
	const isJson = typeof given === 'string' && given !== own && given.startsWith('[');
	// Long numbers stay as they are.
	const list = isJson ? readJson(given).body : given === own ? [own] : given;
	const taskIds = Array.isArray(list)
		? list.map((entry) => asText(entry)?.trim() ?? '')
		: textsBetweenCommas(String(given));
	if (taskIds.length === 0 || taskIds.includes(''))
		throw invalid(
			"The field 'Task ID' is empty or contains an invalid ID",
			"Enter the task_id of each task in 'Task ID'.",
		);
	return [...new Set(taskIds)].map(checkedTaskId);
}
