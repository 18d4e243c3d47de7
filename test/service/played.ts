import { examplesOf, textOf, type Example, type TaskExample } from '../answers';
import type { Answer } from './answer';

/**
 * Plays an example of test/answers.
 * @param name with its kind, such as "task/wrapped"
 * @param taskId stands for the example's own ID in what is answered
 */
export function played(name: string | undefined, kind: string, taskId?: string): Answer | null {
	if (name?.startsWith(`${kind}/`) !== true) return null;
	const examples = new Map(examplesOf<Example<Partial<TaskExample['request']>, object>>(kind));
	const example = examples.get(name.slice(kind.length + 1));
	if (example === undefined) return { status: 500, content: `There is no example ${name}` };
	const { answer, request } = example;
	if ('silence' in answer) return { status: 0, reset: true };
	const { status, headers = {}, body } = answer;
	const isJson = body !== undefined;
	const type = isJson ? 'application/json' : 'text/html';
	const text = textOf(answer);
	const own = taskId === undefined ? text : text.replaceAll(`"${request.taskId}"`, `"${taskId}"`);
	return { status, content: own, headers: { 'content-type': type, ...headers } };
}
