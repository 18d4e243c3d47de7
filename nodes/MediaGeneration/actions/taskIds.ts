/** Checks IDs of tasks that users enter. */
import { invalid } from '../base/outcomes';
import { asText, parseJson, textsBetweenCommas } from '../base/json';
import { idProblem } from '../base/pathPart';

export function checkedTaskId(taskId: string): string {
	const problem = idProblem(taskId);
	if (problem === undefined) return taskId;
	throw invalid(
		`The Task ID can't be used: it ${problem}`,
		'Enter the task_id that the service returned when the task was created, and nothing else.',
	);
}

/** Reads a list, its JSON, or a text in which commas separate the IDs. @param own the ID that the item itself has: it may contain a comma */
export function listedTaskIds(
	given: readonly unknown[] | string,
	own: string | undefined,
): string[] {
	const one = given === own ? [given] : undefined;
	const json = typeof given === 'string' && given.startsWith('[') ? parseJson(given) : given;
	const taskIds = Array.isArray(json)
		? json.map((entry) => asText(entry)?.trim() ?? '')
		: (one ?? textsBetweenCommas(String(given)));
	if (taskIds.length === 0 || taskIds.includes(''))
		throw invalid(
			'The field "Task ID" is empty or contains an invalid ID',
			'Enter the task_id of each task in "Task ID".',
		);
	return [...new Set(taskIds)].map(checkedTaskId);
}
