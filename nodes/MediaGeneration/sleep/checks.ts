/** What an execution needs in order to sleep and wake again: checked before anything is paid for. */
import type { IExecuteFunctions } from 'n8n-workflow';
import { callbackUrlProblem } from '../callback/receiveUrl';
import { callSelf } from '../service/client';
import { invalid } from '../service/failures';
import { CONTEXT_FIELD, notesReference } from './notes';

const ADVICE = 'Set Wait Mode to "Poll". Nothing was created.';

export function isToolRun(context: IExecuteFunctions): boolean {
	const { isToolExecution } = context as Partial<Pick<IExecuteFunctions, 'isToolExecution'>>;
	return isToolExecution?.call(context) === true || context.getNode().type.endsWith('Tool');
}

/** The URL that wakes this execution, with n8n's own token and this node's ID as its last part; undefined if n8n has none. */
function resumeUrlOf(context: IExecuteFunctions): string | undefined {
	const resumeUrl = context.evaluateExpression('{{ $execution.resumeUrl }}', 0);
	if (typeof resumeUrl !== 'string' || !URL.canParse(resumeUrl)) return undefined;
	const url = new URL(resumeUrl);
	// Without a token anyone could wake the execution; n8n has it since 2.14.
	if (!url.searchParams.has('signature')) return undefined;
	url.pathname += `/${context.getNode().id}`;
	return url.href;
}

/** Waking finds its notes by the node's name. With some names n8n refuses the expression, with others it finds nothing. */
function findsNotes(context: IExecuteFunctions): boolean {
	const store = context.getContext('node') as Record<string, unknown>;
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

export interface Waking {
	resumeUrl: string;
	/** Whether the service can call it; else this n8n has to look. */
	callable: boolean;
}

/** Throws an `invalid` failure where suspending can't work. @param watched whether this n8n looks while the execution sleeps */
export async function checkSuspension(
	context: IExecuteFunctions,
	baseUrl: string,
	watched: boolean,
): Promise<Waking> {
	if (isToolRun(context))
		throw invalid(
			"An execution can't be suspended while the node runs as a tool of an AI agent",
			ADVICE,
		);
	const resumeUrl = resumeUrlOf(context);
	if (resumeUrl === undefined)
		throw invalid(
			'This n8n gives no signed resume URL, which suspending needs',
			`Update n8n to 2.14 or newer, or do without. ${ADVICE}`,
		);
	if (!findsNotes(context))
		throw invalid(
			`An execution can't be suspended by a node with the name "${context.getNode().name}"`,
			`n8n gives no access to a node of that name. Rename the node. ${ADVICE}`,
		);
	const problem = callbackUrlProblem(resumeUrl, baseUrl);
	if (problem === undefined) return { resumeUrl, callable: true };
	if (!watched)
		throw invalid(
			`The execution can't be suspended: ${problem}`,
			`Turn the option Watch While Asleep on. ${ADVICE} Or set N8N_WEBHOOK_URL (in older versions of n8n WEBHOOK_URL) to an address that the service can reach.`,
		);
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
		`Set N8N_WEBHOOK_URL (in older versions of n8n WEBHOOK_URL) to an address under which this n8n reaches itself, and allow that address where N8N_SSRF_PROTECTION_ENABLED is on. ${ADVICE}`,
	);
}
