/** What n8n shows beside the items: hints above the output, a sleeping node's tooltip, and values by which executions can be found in the list. */
import type { IExecuteFunctions } from 'n8n-workflow';
import { uriEncoded } from '../base/url';
import { onOneLine } from '../base/words';
import { cleanerOf } from './clean';
import type { N8nContext } from './execution';
import { logOf, quietly } from './log';

/** The editor renders hints, a sleeping node's tooltip and the description of an error as HTML, and its message as a text (n8n 2.41.1). */
export const inHtml = (text: string) =>
	text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

export function showHint(
	context: IExecuteFunctions,
	type: 'info' | 'warning',
	message: string,
): void {
	const clean = inHtml(onOneLine(cleanerOf(context).text(message)));
	// Older versions of n8n have no hints, at least not in the context of an agent's tool (`SupplyDataContext`, n8n-core).
	quietly(() => context.addExecutionHints({ type, location: 'outputPane', message: clean }));
}

export function warn(context: IExecuteFunctions, hint: string, line = hint): void {
	logOf(context).warn(line);
	// As long as n8n's guidelines allow.
	showHint(context, 'warning', hint.length > 120 ? `${hint.slice(0, 117)}...` : hint);
}

/** Writes what {@link waitingTooltip} shows as the fragment of a URL, which is sent nowhere. @param until epoch ms */
export function tooltipFragment(taskIds: readonly string[], until: number): string {
	const { length } = taskIds;
	const which = [...taskIds.slice(0, 3), ...(length > 3 ? ['...'] : [])].join(', ');
	const subject = length === 1 ? 'its task has' : `its ${length} tasks have`;
	return `#${until}:${uriEncoded(`${subject} finished (${inHtml(which)})`)}`;
}

/** What the editor shows at a node whose execution sleeps. It sees only the resume URL in the run's metadata. The time is in the reader's zone. */
export const waitingTooltip = `={{ ((found) => found
	? "Asleep until " + decodeURIComponent(found[2]) + ", or until " + new Date(Number(found[1])).toLocaleString() + " at the latest"
	: "Asleep until its tasks have finished")(/#(\\d+):(.*)$/.exec($execution.resumeUrl)) }}`;

/** n8n logs an error about longer values (`execution-metadata`, n8n-core 2.41). */
export const MAX_VALUE = 255;

/** Unknown to the types of n8n 2.14. Older versions lack it, so that reading or setting a value throws. */
interface HavingValues {
	customData: { getAll(): Record<string, string>; setAll(values: Record<string, string>): void };
}

export function executionValues(context: N8nContext): HavingValues['customData'] {
	return (context as unknown as HavingValues).customData;
}
