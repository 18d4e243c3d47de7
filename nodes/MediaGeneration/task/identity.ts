/** What identifies a creation (its run, item and request), and what is known of one that succeeded. */
import { createHash } from 'crypto';
import type { CreationRequest } from '../answers/request';
import type { JsonObject } from '../base/json';

export interface AgentCall {
	/** The same for all tries of the call. Has no colon. */
	id: string;
	/** The agent and its run, which n8n's Retry repeats. */
	agent: string;
}

export interface NodeRun {
	executionId: string;
	runIndex: number;
	call?: AgentCall;
}

/** The item that a task is for, and the part of its text (0 if there is only one). */
export interface Slot {
	item: number;
	part: number;
}

export interface Asked {
	slot: Slot;
	request: CreationRequest;
	/** Identifies the request and the service. */
	hash: string;
}

export interface Created {
	kind: 'created';
	taskId: string;
	/** Epoch ms at which the answer came. */
	createdAt: number;
	answer: JsonObject;
	/** Whether another execution created it, and paid for it. */
	isTakenUp?: boolean;
	/** URL to which the service reports the task's end, if this try created it. */
	receiveUrl?: string | undefined;
}

/**
 * Returns a request as it is noted: without the receive URL, whose token differs from execution to execution, and without the content of
 * files, which their hashes represent.
 */
export function withoutReceiveUrl(request: CreationRequest): CreationRequest {
	const { receive_url: _ignored, ...body } = request.body;
	const files = request.files?.map(({ stream: _, ...file }) => file);
	return { ...request, body, ...(files && { files }) };
}

/** Identifies equal requests of an account. */
export function requestHash(baseUrl: string, request: CreationRequest): string {
	const { path, qs, body, files = [] } = withoutReceiveUrl(request);
	const content = files.map(({ field, name, sha256 }) => [field, name, sha256]);
	const identity = JSON.stringify([baseUrl, path, qs ?? null, body, ...content]);
	return createHash('sha256').update(identity).digest('hex').slice(0, 32);
}
