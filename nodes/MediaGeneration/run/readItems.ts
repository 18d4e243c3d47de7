/**
 * The operations that only read: credits, API keys and `task: get`. They cost nothing, so a request that fails for the moment is repeated.
 */
import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { failureItem, nodeError } from '../delivery/failure';
import type { Operation } from '../operations/operation';
import { ItemFields } from '../operations/fields';
import type { PollRouteOption } from '../service/account';
import { createClient, type ServiceClient } from '../service/client';
import { now, pause } from '../service/clock';
import { attempt, FailureError, quote, type Failure } from '../service/failures';
import { outputsOf } from '../service/outputs';
import { isObject } from '../service/json';
import { busyDelay } from '../wait/schedule';
import { lookAtTask, wordsOf } from '../service/look';
import * as failures from '../service/failures';

const ATTEMPTS = 4;
const TIMEOUT_MS = 20_000;

function unreadable(what: string, reason: string, httpStatus?: number): FailureError {
	const refused = httpStatus === 401 || httpStatus === 403;
	return new FailureError({
		outcome: refused ? 'rejected' : 'unreachable',
		message: `${what} could not be read: ${quote(reason) ?? 'no reason given'}`,
		description: refused
			? 'Check the API key in the credential: it may be invalid, expired or revoked.'
			: 'Check the Base URL in the credential and whether the service is up, then run again. Nothing was paid.',
		...(httpStatus === undefined ? {} : { httpStatus }),
	});
}

/** The body of a `GET`. Throws a FailureError. */
export async function fetchAnswer(
	client: ServiceClient,
	path: string,
	signal?: AbortSignal,
): Promise<unknown> {
	for (let attempt = 1; ; attempt += 1) {
		const reply = await client.send({
			method: 'GET',
			path,
			purpose: 'read',
			timeoutMs: TIMEOUT_MS,
			signal,
		});
		let reason: string;
		let httpStatus: number | undefined;
		let permanent = false;
		if (reply.answered) {
			const { status, body } = reply;
			const refusedInside = isObject(body) && body.success === false;
			if (status >= 200 && status < 300 && body !== undefined && !refusedInside) return body;
			reason =
				wordsOf(reply) ??
				(status < 300 && refusedInside
					? `HTTP ${status}`
					: `HTTP ${status} without a usable answer`);
			httpStatus = status;
			permanent = status >= 300 && status < 500 && status !== 429 && status !== 408;
		} else {
			({ reason, permanent } = reply);
		}
		if (permanent || attempt >= ATTEMPTS || signal?.aborted === true)
			throw unreadable(path, reason, httpStatus);
		const wait = Math.max(
			busyDelay(attempt, 0, undefined, Math.random()),
			client.account.pausedUntil('read') - now(),
		);
		await pause(Math.min(wait, 30_000), signal);
	}
}

/** One look at a task, repeated only while the service is busy. Throws a FailureError. */
async function getTask(
	client: ServiceClient,
	taskId: string,
	route: PollRouteOption,
	signal?: AbortSignal,
): Promise<IDataObject> {
	for (let attempt = 1; ; attempt += 1) {
		const look = await lookAtTask(client, {
			taskId,
			kind: 'task',
			route,
			timeoutMs: TIMEOUT_MS,
			signal,
		});
		switch (look.kind) {
			case 'task': {
				const outputs = look.task.state === 'done' ? outputsOf(look.task) : [];
				return {
					...(look.task.raw as IDataObject),
					task_id: taskId,
					outputs: outputs.map(({ url, kind }) => ({ url, kind })),
				};
			}
			case 'denied':
				throw new FailureError(failures.denied(taskId, look));
			case 'missing':
				throw new FailureError(failures.missing(taskId, look));
			case 'busy':
				if (attempt >= ATTEMPTS || signal?.aborted === true) {
					throw unreadable(`Task ${taskId}`, look.detail, look.httpStatus);
				}
				await pause(
					Math.min(busyDelay(attempt, 0, look.retryAfterMs, Math.random()), 30_000),
					signal,
				);
		}
	}
}

async function readItem(
	context: IExecuteFunctions,
	client: ServiceClient,
	{ work }: Operation,
	index: number,
) {
	const signal = context.getExecutionCancelSignal();
	const fields = new ItemFields(context, index);
	if (work.kind !== 'reads') {
		const read = attempt(() => fields.taskId());
		if (!read.ok) throw new FailureError(read.failure);
		return [await getTask(client, read.value, 'auto', signal)];
	}
	const items = work.items(await fetchAnswer(client, work.path, signal));
	if (items === undefined) throw unreadable(work.path, 'the answer has an unexpected shape');
	return items as IDataObject[];
}

function asFailure(error: unknown): Failure {
	if (error instanceof FailureError) return error.failure;
	return {
		outcome: 'invalid',
		message: error instanceof Error ? error.message : 'The item could not be read',
		description: 'Check the fields and the credential of the node.',
	};
}

/** One item, or several, per input item. */
export async function readItems(
	context: IExecuteFunctions,
	operation: Operation,
): Promise<INodeExecutionData[]> {
	const output: INodeExecutionData[] = [];
	let client: ServiceClient | undefined;
	for (let index = 0; index < context.getInputData().length; index += 1) {
		try {
			client ??= await createClient(context);
			const records = await readItem(context, client, operation, index);
			output.push(...records.map((json) => ({ json, pairedItem: { item: index } })));
		} catch (error) {
			const failure = asFailure(error);
			if (!context.continueOnFail()) throw nodeError(context.getNode(), failure, index);
			output.push(failureItem(context.getNode(), failure, index, undefined));
		}
	}
	return output;
}
