/**
 * From the items of a run to jobs: reads and checks every item before anything is sent.
 */
import type { IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import type { GeneratingOperation } from '../operations/operation';
import { ItemFields } from '../operations/fields';
import { readWaitSettings, type WaitSettings } from '../operations/waiting';
import { FailureError, type Failure } from '../service/failures';
import { parseTask } from '../service/task';
import { asText, isObject } from '../service/json';
import type { Job } from './jobs';

export type Planned =
	| { kind: 'job'; job: Job; settings: WaitSettings }
	/** `task: wait` behind a suspended node: the item is complete already. */
	| { kind: 'complete'; item: INodeExecutionData }
	| { kind: 'failed'; failure: Failure };

/** Runs `read`, turning its failures into values. */
export function attemptItem<T>(
	read: () => T,
): { ok: true; value: T } | { ok: false; failure: Failure } {
	try {
		return { ok: true, value: read() };
	} catch (error) {
		if (error instanceof FailureError) return { ok: false, failure: error.failure };
		const message = error instanceof Error ? error.message : 'unknown reason';
		return {
			ok: false,
			failure: {
				outcome: 'invalid',
				message: `A field of this item could not be read: ${message}`,
				description: 'Check the expressions in the fields of the node. Nothing was sent.',
			},
		};
	}
}

/** What an item that comes out of a suspended node already knows of its task (README, "Waiting"). */
export function planFromInput(
	item: INodeExecutionData,
	taskId: string,
	settings: WaitSettings,
): Planned | undefined {
	const { json } = item;
	if (asText(json.task_id) !== taskId) return undefined;
	if (json.outcome === 'failed') {
		const message = asText(json.error) ?? `Task ${taskId} failed`;
		return {
			kind: 'failed',
			failure: {
				outcome: 'failed',
				message,
				description:
					'The service ended this task with an error. Correct the input if the reason points to it, then run the item again: that makes a new task.',
				taskId,
				...(asText(json.status) === undefined ? {} : { status: asText(json.status) }),
			},
		};
	}
	if (
		json.outcome !== undefined ||
		parseTask(json)?.state !== 'done' ||
		!Array.isArray(json.outputs)
	)
		return undefined;
	const outputs: unknown[] = json.outputs;
	const present = outputs.every(
		(output) =>
			isObject(output) &&
			typeof output.binaryProperty === 'string' &&
			item.binary?.[output.binaryProperty] !== undefined,
	);
	return outputs.length > 0 && (present || !settings.download)
		? { kind: 'complete', item }
		: undefined;
}

export function planItem(
	context: IExecuteFunctions,
	operation: GeneratingOperation | undefined,
	index: number,
): Planned {
	const fields = new ItemFields(context, index);
	const read = attemptItem((): Planned => {
		const settings = readWaitSettings(fields, operation === undefined);
		const { wait, timeoutMs, pollRoute: route } = settings;
		if (operation !== undefined) {
			const request = operation.request(fields);
			return {
				kind: 'job',
				job: { index, request, taskId: undefined, wait, timeoutMs, route },
				settings,
			};
		}
		const taskId = fields.taskId();
		const input = context.getInputData()[index];
		const known = input === undefined ? undefined : planFromInput(input, taskId, settings);
		return (
			known ?? {
				kind: 'job',
				job: { index, request: undefined, taskId, wait, timeoutMs, route },
				settings,
			}
		);
	});
	return read.ok ? read.value : { kind: 'failed', failure: read.failure };
}
