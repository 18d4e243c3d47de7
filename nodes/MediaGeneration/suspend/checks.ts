/** Checks what an execution needs in order to sleep and wake again, before anything is paid for. */
import type { IExecuteFunctions } from 'n8n-workflow';
import { callbackUrlProblem } from '../trigger/receiveUrl';
import { cleanerOf } from '../n8n/clean';
import { isToolRun, storeOf } from '../n8n/execution';
import { callSelf } from '../transport/client';
import { invalid } from '../base/failures';
import { CONTEXT_FIELD, notesReference, resumeUrlOf } from './notes';

const POLL_INSTEAD = 'set Wait Mode to "Poll". Nothing was created.';

/** Waking finds its notes by the node's name. With some names n8n refuses the expression, with others it finds nothing. */
function findsNotes(context: IExecuteFunctions): boolean {
	const store = storeOf(context);
	const before = store[CONTEXT_FIELD];
	store[CONTEXT_FIELD] = 'noted';
	try {
		const reference = notesReference(context.getNode().name);
		return context.evaluateExpression(`{{ ${reference} }}`, 0) === 'noted';
	} catch {
		return false;
	} finally {
		store[CONTEXT_FIELD] = before;
	}
}

/** Tells how an execution that sleeps can be called. */
export interface Waking {
	resumeUrl: string;
	/** True if the service can call it; else this n8n has to look. */
	callable: boolean;
}

/** Throws an `invalid` failure where suspending can't work. */
export async function checkSuspension(
	context: IExecuteFunctions,
	baseUrl: string,
): Promise<Waking> {
	if (isToolRun(context))
		throw invalid(
			"An execution can't be suspended while the node runs as a tool of an AI agent",
			`As a tool, ${POLL_INSTEAD}`,
		);
	const given = context.evaluateExpression('{{ $execution.resumeUrl }}', 0);
	const resumeUrl = resumeUrlOf(context, given);
	if (resumeUrl === undefined)
		throw invalid(
			'This n8n gives no signed resume URL, which suspending needs',
			`Update n8n to 2.14 or newer, or ${POLL_INSTEAD}`,
		);
	cleanerOf(context).hasUrl(resumeUrl);
	if (!findsNotes(context))
		throw invalid(
			`An execution can't be suspended by a node with the name "${context.getNode().name}"`,
			`n8n gives no access to a node of that name. Rename the node, or ${POLL_INSTEAD}`,
		);
	const problem = callbackUrlProblem(resumeUrl, baseUrl);
	if (problem === undefined) return { resumeUrl, callable: true };
	await checkOwnReach(context, resumeUrl);
	return { resumeUrl, callable: false };
}

/** Where no callback can come, this n8n has to reach its own resume address. While the execution runs, n8n answers 409 there. */
async function checkOwnReach(context: IExecuteFunctions, resumeUrl: string): Promise<void> {
	const answer = await callSelf(context, resumeUrl, {});
	if (answer.status !== undefined && (answer.status === 409 || answer.status < 400)) return;
	const seen = answer.status === undefined ? answer.reason : `it answered HTTP ${answer.status}`;
	throw invalid(
		`The execution can't be suspended: the service can't reach this n8n, and this n8n can't reach its own address ${new URL(resumeUrl).origin} (${seen})`,
		`Set N8N_WEBHOOK_URL (in older versions of n8n WEBHOOK_URL) to an address under which this n8n reaches itself, and allow that address where N8N_SSRF_PROTECTION_ENABLED is on. Or ${POLL_INSTEAD}`,
	);
}
