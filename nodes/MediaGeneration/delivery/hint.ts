/** Hints: what the editor shows above the output of a run. */
import type { IExecuteFunctions } from 'n8n-workflow';
import { cleanerOf } from '../service/clean';

/** Shows a hint, where the editor can. */
export function showHint(
	context: IExecuteFunctions,
	type: 'info' | 'warning',
	message: string,
): void {
	// Hints are newer than the oldest n8n that this node runs on, and tools of agents have none.
	if (!('addExecutionHints' in context)) return;
	const clean = cleanerOf(context).text(message);
	context.addExecutionHints({ type, location: 'outputPane', message: clean });
}
