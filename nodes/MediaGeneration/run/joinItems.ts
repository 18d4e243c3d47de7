/** `audio: join` joins the audio of all input items into one file per group. Nothing is sent anywhere. */
import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { itemsOf } from '../files/fileItems';
import { shownOutputs } from '../items/shownItem';
import { joinParts } from '../files/joining';
import type { OutputFile } from '../files/outputFile';
import { isOfType } from '../base/fileTypes';
import { joining } from '../actions/audio';
import type { ItemFields } from '../actions/fields';
import { readMaxFileBytes } from '../actions/fileSettings';
import { itemFile } from '../actions/inputFiles';
import { pauseOption } from '../actions/longText';
import { getOrCreate } from '../base/boundedMap';
import { attempt, attemptAsync, invalid, type Failure } from '../base/outcomes';
import { itemsInWords } from '../base/words';
import { hintAtNames } from './hints';
import { failedItem, type Executing } from './output';

/** The sound of an item, and its subtitles. */
function filesOf(fields: ItemFields): OutputFile[] {
	const binary = itemFile(fields, fields.requiredText(joining.input), joining.input);
	const subtitles = Object.values(fields.files).find((file) => isOfType(file, 'srt'));
	return [
		{ output: { kind: 'audio' }, binary },
		{ output: { kind: 'transcript' }, binary: subtitles },
	];
}

/** Messages name items instead of parts. What concerns the joined file is read from the first item. */
async function joinGroup(
	context: IExecuteFunctions,
	group: string | undefined,
	items: readonly ItemFields[],
): Promise<INodeExecutionData> {
	const [first] = items as [ItemFields];
	const joined = await joinParts(context, items.map(filesOf), {
		pauseMs: first.number(pauseOption),
		maxBytes: readMaxFileBytes(first),
		baseName: first.text(joining.fileName) ?? group ?? 'joined',
		withTranscript: false,
		nameOf: (number) => itemsInWords([items[number]?.itemIndex ?? number]),
	});
	if (!joined.ok)
		throw invalid(
			`The audio can't be joined: ${joined.reason}`,
			"Choose one 'Output Format' for all that is joined: MP3 of the same sample rate and channels, or WAV of the same sample rate, in which mono is made stereo. Otherwise convert those that differ, or join them separately with 'Group By'. The joined file has to fit into 'Max File Size'.",
		);
	const pairedItem = pairedItems(items);
	const json: IDataObject = {
		parts: pairedItem.map(({ item }, number) => ({
			part: number + 1,
			item,
			...joined.times[number],
		})),
		...joined.json,
		...(group === undefined ? {} : { group }),
	};
	const outputBinaryField = first.text(joining.output) ?? 'data';
	const settings = { splitFiles: false, outputBinaryField };
	const [item = { json }] = itemsOf(joined.files, settings, { json, index: first.itemIndex }).items;
	return { ...item, pairedItem };
}

const pairedItems = (items: readonly ItemFields[]) =>
	items.map(({ itemIndex: item }) => ({ item }));

export async function joinItems(
	executing: Executing,
	items: readonly ItemFields[],
): Promise<INodeExecutionData[]> {
	const { context } = executing;
	const refused = (failure: Failure, group: readonly ItemFields[]): INodeExecutionData => {
		const item = failedItem(executing, failure, group[0]?.itemIndex ?? 0);
		return Object.assign(item, { pairedItem: pairedItems(group) });
	};
	const output: INodeExecutionData[] = [];
	const groups = new Map<string | undefined, ItemFields[]>();
	for (const item of items) {
		const group = attempt(() => item.text(joining.groupBy));
		if (group.ok) getOrCreate(groups, group.value, () => []).push(item);
		else output.push(refused(group.failure, [item]));
	}
	for (const [value, group] of groups) {
		const joined = await attemptAsync(async () => await joinGroup(context, value, group));
		output.push(joined.ok ? joined.value : refused(joined.failure, group));
	}
	hintAtNames(context, output.flatMap(shownOutputs));
	return output;
}
