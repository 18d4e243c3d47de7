/** Checks what an execution needs to sleep and wake again, before anything is paid for. */
import type { IExecuteFunctions } from 'n8n-workflow';
import { invalid } from '../base/outcomes';
import { seconds } from '../base/words';
import { showHint, warn } from '../n8n/editor';
import { cleanerOf } from '../n8n/clean';
import { logOf, quietly } from '../n8n/log';
import { isToolRun, storeOf, workflowSettings } from '../n8n/execution';
import { callSelf } from '../transport/selfCall';
import { dependsOnItems } from '../transport/credentials';
import { callbackUrlProblem } from '../trigger/receiveUrl';
import { CONTEXT_FIELD, notesReference } from './notes';
import { isOfRunning, shownReply } from './ownCalls';
import { resumeUrlOf } from './resumeUrl';

const POLL_INSTEAD = `set 'Wait Mode' to "Poll". Nothing was created.`;

/** Waking finds its notes by the node's name. For some names n8n refuses the expression, for others it finds nothing. */
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

type Obstacle = [exists: () => boolean | Promise<boolean>, problem: string, advice: string];

/** Lists what makes suspending impossible; only the first one is told. */
const obstaclesFor = (context: IExecuteFunctions, resumeUrl: string): Obstacle[] => [
	[
		() => isToolRun(context),
		"An execution can't be suspended while the node runs as a tool of an AI agent",
		'As a tool,',
	],
	[
		async () => await dependsOnItems(context),
		"An execution can't be suspended with a credential whose fields depend on the items",
		"n8n has no items when it wakes the execution, so it can't resolve them. Select a credential without such expressions, or",
	],
	[
		// Before each call to a webhook of version 1, n8n 2.41 evaluates an expression without the execution's data (`parseRequestBody`).
		() => workflowSettings(context).binaryMode === 'combined',
		'An execution can\'t be suspended with the workflow setting "binaryMode: combined"',
		'n8n refuses every call that would wake it. Change that setting of the workflow, or',
	],
	[
		// n8n's coming engine has different IDs, and wakes executions differently (engine-v2-webhooks.js, n8n 2.41).
		() => !/^\d+$/.test(context.getExecutionId()),
		"This n8n runs the workflow on an engine whose executions this node can't suspend",
		"Run the workflow by n8n's standard engine, or",
	],
	[
		() => resumeUrl === '',
		'This n8n gives no signed resume URL, which suspending needs',
		'Update n8n to 2.14 or newer, or',
	],
	[
		() => !findsNotes(context),
		`An execution can't be suspended by a node with the name "${context.getNode().name}"`,
		'n8n gives no access to a node of that name. Rename the node, or',
	],
];

/** How a sleeping execution can be called. */
export interface Waking {
	resumeUrl: string;
	/** Whether the service can call it; else this n8n has to poll. */
	callable: boolean;
}

/** Throws an `invalid` failure if suspending can't work. */
export async function checkSuspension(
	context: IExecuteFunctions,
	baseUrl: string,
): Promise<Waking> {
	const given = context.evaluateExpression('{{ $execution.resumeUrl }}', 0);
	const resumeUrl = resumeUrlOf(given) ?? '';
	cleanerOf(context).hasUrl(resumeUrl);
	for (const [exists, problem, advice] of obstaclesFor(context, resumeUrl))
		if (await exists()) throw invalid(problem, `${advice} ${POLL_INSTEAD}`);
	const callable = callbackUrlProblem(resumeUrl, baseUrl) === undefined;
	await checkOwnReach(context, { resumeUrl, callable });
	return { resumeUrl, callable };
}

/** If no callback can come, this n8n must reach its own resume address; else its calls only replace lost callbacks. */
async function checkOwnReach(
	context: IExecuteFunctions,
	{ resumeUrl, callable }: Waking,
): Promise<void> {
	const reply = await callSelf(context, { url: resumeUrl, body: {} });
	if (isOfRunning(reply)) return;
	const { origin, pathname } = new URL(resumeUrl);
	const unreached = `this n8n can't reach its own address ${callable ? origin + pathname : origin} (${shownReply(reply)})`;
	const advice =
		'Set N8N_WEBHOOK_URL (in older versions of n8n WEBHOOK_URL) to an address under which this n8n reaches itself, and allow that address where N8N_SSRF_PROTECTION_ENABLED is on.';
	if (!callable)
		throw invalid(
			`The execution can't be suspended: the service can't reach this n8n, and ${unreached}`,
			`${advice} Or ${POLL_INSTEAD}`,
		);
	const words = `Only callbacks of the service can wake this execution before its deadline, because ${unreached}. ${advice}`;
	showHint(context, 'warning', words);
	logOf(context).warn(words);
}

/**
 * n8n counts a workflow's own Timeout from the execution's start, sleep included, and cancels the execution when its deadline wakes it.
 * @param timeoutMs the longest one of the tasks that the execution will sleep on
 */
export function warnOfWorkflowTimeout(context: IExecuteFunctions, timeoutMs: number): void {
	quietly(() => {
		const { executionTimeout } = workflowSettings(context);
		const limitMs = typeof executionTimeout === 'number' ? executionTimeout * 1_000 : 0;
		if (limitMs <= 0 || limitMs >= timeoutMs) return;
		const hint = `The workflow's own Timeout (${seconds(limitMs)}) ends before the Timeout of this node (${seconds(timeoutMs)})`;
		const advice = `: n8n cancels the execution if its tasks take longer. Raise it in the workflow's settings, or lower the node's option 'Timeout'`;
		warn(context, hint, hint + advice);
	});
}
