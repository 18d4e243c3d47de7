/** Warns before anything is paid for of what will go wrong around a sleeping execution, with at most one hint and one line in the log. */
import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { seconds } from '../base/words';
import { isObject } from '../base/json';
import { workflowSettings } from '../n8n/execution';
import { quietly } from '../n8n/clean';
import { warn } from '../n8n/editor';

/** A hint, and what the log says behind it. */
type Trouble = readonly [hint: string, advice: string];

/** n8n counts a workflow's own Timeout from the execution's start, sleep included, and cancels the execution when its deadline wakes it. */
function workflowTimeout(context: IExecuteFunctions, timeoutMs: number): Trouble | undefined {
	const { executionTimeout } = workflowSettings(context);
	const limitMs = typeof executionTimeout === 'number' ? executionTimeout * 1_000 : 0;
	if (limitMs <= 0 || limitMs >= timeoutMs) return undefined;
	const hint = `The workflow's own Timeout (${seconds(limitMs)}) ends before the Timeout of this node (${seconds(timeoutMs)})`;
	const advice = `: n8n cancels the execution if its tasks take longer. Raise it in the workflow's settings, or lower the node's option Timeout`;
	return [hint, advice];
}

/** n8n 2.41 answers such a caller with the sleeping items as soon as the execution begins to wait. */
function answersAtOnce({ type, parameters = {} }: { type: string; parameters?: IDataObject }) {
	const { responseMode, options } = parameters;
	if (type === 'n8n-nodes-base.webhook') return responseMode === 'lastNode';
	if (!type.endsWith('.chatTrigger')) return false;
	const mode = (isObject(options) ? options.responseMode : undefined) ?? 'lastNode';
	return mode === 'lastNode';
}

function waitingCaller(context: IExecuteFunctions): Trouble | undefined {
	const nodes = context.getParentNodes(context.getNode().name, { includeNodeParameters: true });
	const caller = nodes.find((node) => node.disabled !== true && answersAtOnce(node));
	if (caller === undefined) return undefined;
	const hint = `"${caller.name}" answers its caller with unfinished items once the execution sleeps`;
	const advice =
		'. Let it answer at once with the task_id, or by Respond to Webhook behind this node';
	return [hint, advice];
}

/**
 * n8n 2.41 wakes a parent once the first of several executions of a sub-workflow has finished, and continues with its items. It reads the
 * metrics of an evaluated execution at the moment when that falls asleep.
 */
const BY_MODE: Readonly<Record<string, Trouble>> = {
	integrated: [
		'If a parent runs this sub-workflow "once for each item", only one of its items goes on: use Poll',
		'',
	],
	evaluation: [
		"n8n's evaluation does not wait for an execution that sleeps, and counts this row as failed: use Poll",
		'',
	],
};

/** @param timeoutMs the longest one of the tasks that the execution will sleep on */
export function warnOfSurroundings(context: IExecuteFunctions, timeoutMs: number): void {
	quietly(() => {
		const ofMode = BY_MODE[context.getMode()];
		const trouble = workflowTimeout(context, timeoutMs) ?? waitingCaller(context) ?? ofMode;
		if (trouble !== undefined) warn(context, trouble[0], trouble.join(''));
	});
}
