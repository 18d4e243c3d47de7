/** What limits the cost of a run, and how much of it runs at once. The settings of the first item count for all. */
import type { ItemFields } from './fields';
import * as ui from './ui';

export const minimumCreditsOption = ui.amount('Minimum Credits', 'minimumCredits', {
	typeOptions: { minValue: 0 },
	description: 'Create nothing if the account has fewer credits than this',
});

export const stopAfterOption = ui.amount('Stop After Credits', 'maximumCredits', {
	typeOptions: { minValue: 0 },
	default: 100,
	description:
		"Create no further task once the account's balance has fallen by this much since this node began. A task that is under way may cost more. Loop iterations, retries and tool calls share this limit. If 'On Error' is Stop Workflow, finished items are held back: n8n's Retry or Task: Wait gets them. Uses the value of the first item.",
});

export const maxActiveOption = ui.amount('Max Active Tasks', 'maxActiveTasks', {
	typeOptions: { minValue: 1 },
	default: 20,
	description:
		'How many tasks of this run may be in progress at the same time. Uses the value of the first item.',
});

export interface RunSettings {
	maxActiveTasks: number;
	/** Undefined means no limit. */
	maximumCredits: number | undefined;
}

export function readRunSettings(fields: ItemFields): RunSettings {
	const maxActiveTasks = Math.floor(fields.number(maxActiveOption));
	// An option that is set but gives an empty value must not count as no limit.
	const isLimited = Object.hasOwn(fields.options, stopAfterOption.name);
	return { maxActiveTasks, maximumCredits: isLimited ? fields.number(stopAfterOption) : undefined };
}
