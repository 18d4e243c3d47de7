import { examplesOf, wireOf, type Example, type TaskExample } from '../answers';
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
	const type = answer.body === undefined ? 'text/html' : 'application/json';
	const { status, headers, text } = wireOf(answer, { from: request.taskId, to: taskId });
	return { status, content: text, headers: { 'content-type': type, ...headers } };
}
