/** Checks IDs of tasks that users enter. */
import { invalid } from '../base/outcomes';
import { asText, textsBetweenCommas } from '../base/json';
import { idProblem } from '../base/pathPart';

export function checkedTaskId(taskId: string): string {
	const problem = idProblem(taskId);
	if (problem === undefined) return taskId;
	throw invalid(
		`The Task ID can't be used: it ${problem}`,
		'Enter the task_id that the service returned when the task was created, and nothing else.',
	);
}

/** Reads a list, or a text in which commas separate the IDs. @param own the ID that the item itself has: it may contain a comma */
export function listedTaskIds(
	given: readonly unknown[] | string,
	own: string | undefined,
): string[] {
	const one = given === own ? [given] : undefined;
	const taskIds =
		typeof given === 'string'
			? (one ?? textsBetweenCommas(given))
			: given.map((entry) => asText(entry)?.trim() ?? '');
	if (taskIds.length === 0 || taskIds.includes(''))
		throw invalid(
			'The field "Task ID" is empty or contains an invalid ID',
			'Enter the task_id of each task in "Task ID".',
		);
	return [...new Set(taskIds)].map(checkedTaskId);
}
