/** The fields of the trigger node, and how they are read (docs/trigger.md). */
import type { INodeProperties, IWebhookFunctions } from 'n8n-workflow';
import { attempt } from '../base/outcomes';
import { asBoolean, asNumber, textsBetweenCommas, trimmedText } from '../base/json';
import { downloadField, filesField, maxFileSizeOption, type FileSettings } from './fileSettings';
import type { ItemFields } from './fields';
import * as ui from './ui';

export const triggerFields: INodeProperties[] = [
	ui.notice(
		"Publish this workflow first: until then n8n answers callbacks with an error, and nothing starts. Then copy the Production URL from 'Webhook URLs' above into the field 'Callback URL' of a Media Generation node with 'Wait for Completion' off. The Test URL works once, while this node listens.",
		'urlNotice',
	),
	{
		// The node panel makes an entry of each option of a field with this name on screen (n8n 2.41).
		displayName: 'Trigger On',
		name: 'statuses',
		type: 'multiOptions',
		options: [
			{
				name: 'Task Finished',
				value: 'done',
				description: 'The task is done and its files are ready',
				action: 'On task finished',
			},
			{
				name: 'Task Failed',
				value: 'error',
				description: 'The task ended with an error',
				action: 'On task failed',
			},
		],
		default: ['done', 'error'],
		required: true,
	},
	ui.toggle('Verify with Service', 'verifyWithService', {
		default: true,
		description:
			'Whether to look the task up at the service and output its answer instead of what was posted. Anyone who knows the URL can post anything: with this off, files are downloaded only if the credential has a Callback Secret.',
	}),
	downloadField,
	filesField,
	ui.optionsField([
		ui.toggle('Deduplicate', 'deduplicate', {
			default: true,
			description:
				'Whether to start the workflow only once when callbacks repeat the same task, status and reference',
		}),
		ui.text('File Name', 'fileName', {
			placeholder: 'e.g. {reference}',
			description:
				'Name of the files, without their extension. {reference} and {task_id} stand for those values. Leave empty to name files after type and task.',
		}),
		{
			...maxFileSizeOption,
			description:
				'Larger files are not downloaded: the workflow runs with "download_error" and the addresses',
		},
		ui.text('Task Types', 'types', {
			placeholder: 'e.g. sound_effect, image',
			description:
				'Start the workflow only for these types of tasks, separated by commas. Leave empty for all.',
		}),
	]),
];

export interface TriggerSettings {
	statuses: string[];
	verify: boolean;
	/** These are in lower case; none means all. */
	types: string[];
	deduplicate: boolean;
}

function readable(read: () => unknown): unknown {
	const given = attempt(read);
	return given.ok ? given.value : undefined;
}

/**
 * A value that can't be used, or whose expression fails, falls back to the default: a callback must not be lost because of a misspelt option,
 * and if the webhook threw, n8n 2.41 would start the workflow with an empty item.
 */
export function readTriggerSettings(context: IWebhookFunctions): TriggerSettings {
	const read = (name: string) => readable(() => context.getNodeParameter(name, null));
	// One by one, because an expression of another option may need the item, which there is none of yet.
	const [statuses, types, deduplicate] = ['statuses', 'options.types', 'options.deduplicate'].map(
		read,
	);
	return {
		statuses: Array.isArray(statuses) ? statuses.map(String) : ['done', 'error'],
		verify: read('verifyWithService') !== false,
		types: typeof types === 'string' ? textsBetweenCommas(types.toLowerCase()) : [],
		deduplicate: deduplicate !== false,
	};
}

export function readTriggerFileSettings(fields: ItemFields): FileSettings {
	const read = (name: string) => readable(() => fields.raw(name));
	const maxFileMb = asNumber(read('maxFileSize')) ?? 0;
	const usualMb = Number(maxFileSizeOption.default);
	return {
		download: asBoolean(read('downloadOutput')) ?? true,
		outputBinaryField: trimmedText(read('outputBinaryField')) ?? 'data',
		fileName: trimmedText(read('fileName')),
		maxFileBytes: (maxFileMb > 0 ? maxFileMb : usualMb) * 1_000_000,
		splitFiles: false,
		transcriptInOutput: false,
	};
}
