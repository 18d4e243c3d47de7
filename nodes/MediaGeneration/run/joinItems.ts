/** `audio: join`: the audio of all input items into one file for each group. Nothing is sent anywhere. */
import type { IBinaryData, IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { failureItem, nodeError } from '../delivery/failure';
import { inFields } from '../delivery/files';
import { joinSources, type Source } from '../delivery/joining';
import { ItemFields } from '../operations/fields';
import { readPause } from '../operations/longText';
import { readMaxFileBytes } from '../operations/waiting';
import { ensured } from '../service/boundedMap';
import { attempt, attemptLater, invalid, type Failure } from '../service/failures';

function textField(fields: ItemFields, name: string, label: string): string | undefined {
	return fields.optionalText(name, label)?.trim();
}

/** The items of each group, by the value of Group By; undefined where it is empty. */
function groupsOf(context: IExecuteFunctions): Map<string | undefined, number[]> {
	const groups = new Map<string | undefined, number[]>();
	context.getInputData().forEach((_, index) => {
		const value = textField(new ItemFields(context, index), 'groupBy', 'Group By');
		ensured(groups, value, () => []).push(index);
	});
	return groups;
}

const SUBTITLES = ['application/x-subrip', 'text/srt'];

function sourceOf(item: INodeExecutionData, field: string, index: number): Source {
	const sound = item.binary?.[field];
	if (sound === undefined) {
		const present = Object.keys(item.binary ?? {});
		throw invalid(
			`Item ${index} has no binary field "${field}"`,
			present.length === 0
				? 'The item has no binary data. Put the audio file there first, e.g. with "Download Output".'
				: `Set Input Binary Field to one of those that the item has: ${present.join(', ')}.`,
		);
	}
	const isSubtitles = ({ mimeType, fileName }: IBinaryData) =>
		SUBTITLES.includes(mimeType) || fileName?.toLowerCase().endsWith('.srt');
	return { sound, srt: Object.values(item.binary ?? {}).find(isSubtitles) };
}

/** The item of one group. Messages name items instead of parts, counted from 0 as n8n shows them. */
async function joinGroup(
	context: IExecuteFunctions,
	group: string | undefined,
	indices: number[],
): Promise<INodeExecutionData> {
	const items = context.getInputData();
	const [first = 0] = indices;
	const fields = new ItemFields(context, first);
	const inputField = fields.requiredText('inputBinaryField', 'Input Binary Field').trim();
	const sources = indices.map((index) => sourceOf(items[index] ?? { json: {} }, inputField, index));
	const joined = await joinSources(context, sources, {
		pauseMs: readPause(fields),
		maxBytes: readMaxFileBytes(fields),
		baseName: textField(fields, 'fileName', 'File Name') ?? 'joined',
		withTranscript: false,
		nameOf: (number) => `item ${indices[number] ?? number}`,
	});
	if (!joined.ok)
		throw invalid(
			`The audio can't be joined: ${joined.reason}`,
			'Joining takes MP3 files, or WAV files, that all have the same format and fit into Max File Size. Convert those that differ, or join them apart with Group By.',
		);
	const binaryPropertyName =
		textField(fields, 'binaryPropertyName', 'Put Output File in Field') ?? 'data';
	const { outputs, binary } = inFields(joined.files, binaryPropertyName);
	const json: IDataObject = {
		parts: indices.map((item, number) => ({ part: number + 1, item, ...joined.times[number] })),
		...joined.json,
		...(group === undefined ? {} : { group }),
		outputs: outputs.map((output) => ({ ...output })),
	};
	return { json, binary, pairedItem: indices.map((item) => ({ item })) };
}

function failed(
	context: IExecuteFunctions,
	failure: Failure,
	indices: number[],
): INodeExecutionData {
	const [index = 0] = indices;
	if (!context.continueOnFail()) throw nodeError(context.getNode(), { failure, index });
	const item = failureItem(context.getNode(), { failure, index });
	return Object.assign(item, { pairedItem: indices.map((item) => ({ item })) });
}

export async function joinItems(context: IExecuteFunctions): Promise<INodeExecutionData[]> {
	const grouped = attempt(() => groupsOf(context));
	const all = context.getInputData().map((_, index) => index);
	if (!grouped.ok) return [failed(context, grouped.failure, all)];
	const output: INodeExecutionData[] = [];
	for (const [group, indices] of grouped.value) {
		const joined = await attemptLater(async () => await joinGroup(context, group, indices));
		output.push(joined.ok ? joined.value : failed(context, joined.failure, indices));
	}
	return output;
}
