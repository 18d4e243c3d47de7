/** The parameters of the node, as a workflow has them for one item in one try. */
import type { IDataObject, INodeParameters } from 'n8n-workflow';
import type { History, ItemScript } from './history';

const RESOURCES = {
	voiceId: { resource: 'speech', operation: 'generateByVoiceId' },
	voiceName: { resource: 'speech', operation: 'generateByVoiceName' },
	sound: { resource: 'soundEffect', operation: 'generate' },
	image: { resource: 'image', operation: 'generate' },
	create: { resource: 'task', operation: 'create' },
};

/** Between the least that a part may have and what one paragraph has. */
const MAX_CHARACTERS = 80;

/** Longer than any task takes that ends. A day of polls tells no more of one that never does. */
export const LONGEST_S = 5_000;

/** The part of a text that says which item and part it is for. */
export const slotOf = (item: number, part: number) => `i${item}p${part}`;

/** Whether an item of this operation has parts. */
export function partsOf({ node }: History, { longText, parts }: ItemScript): number {
	const speaks = node.operation === 'voiceId' || node.operation === 'voiceName';
	return speaks && longText !== 'off' ? parts : 1;
}

/** Whether the items differ by their voices alone. */
const areAlike = (history: History) =>
	history.node.alike &&
	history.node.operation === 'voiceName' &&
	history.items.every((item) => partsOf(history, item) === 1);

/** One paragraph for each part, and none so short that two of them fit into one. */
export function textOf(history: History, item: number, salt: string): string {
	const script = history.items[item] as ItemScript;
	if (areAlike(history)) return `This is what all have to say aloud ${salt}`;
	const paragraphs = Array.from({ length: partsOf(history, script) }, (_, part) =>
		`This is what ${slotOf(item, part)} has to say aloud ${salt}`.padEnd(60, '.'),
	);
	return paragraphs.join('\n\n');
}

/** Those of a "Task: Wait" behind the node, for the item that it gets. */
export function fieldsBehind({ behind }: History, json: IDataObject): INodeParameters {
	return {
		resource: 'task',
		operation: 'wait',
		// The field's default, which leads to the input's task where n8n has added its fields.
		taskId: json.task_id as string,
		waitMode: behind === 'callback' ? 'callback' : 'poll',
		downloadOutput: true,
		options: { timeout: LONGEST_S, gracePeriod: 0 },
	};
}

/** @param salt differs between tries where the text does */
export function fieldsOf(history: History, index: number, salt: string): INodeParameters {
	const { node, items } = history;
	const item = items[index] as ItemScript;
	const text = textOf(history, index, salt);
	const timeout = item.timeout === 0 && item.wait === 'suspend' ? LONGEST_S : item.timeout;
	const speaks = node.operation === 'voiceId' || node.operation === 'voiceName';
	return {
		...RESOURCES[node.operation],
		text,
		prompt: text,
		voiceId: 'voice',
		voice: areAlike(history) ? slotOf(index, 0) : 'voice',
		generationsCount: 1,
		path: '/v1m/task/music-generation',
		body: JSON.stringify({ prompt: text }),
		waitForCompletion: item.wait !== 'no',
		waitMode: item.wait === 'suspend' ? 'callback' : 'poll',
		longText: speaks ? item.longText : 'off',
		downloadOutput: item.download,
		options: {
			...(timeout === 0 ? {} : { timeout }),
			onTimeout: item.onTimeout,
			maxCharacters: MAX_CHARACTERS,
			splitFiles: item.splitFiles,
			transcriptInOutput: true,
			gracePeriod: item.grace,
			maxActiveTasks: node.maxActive,
			...(node.sendsAgain ? { sendUnclearAgain: true } : {}),
			...(node.minimumCredits < 0 ? {} : { minimumCredits: node.minimumCredits }),
			...(node.maximumCredits < 0 ? {} : { maximumCredits: node.maximumCredits }),
		},
	};
}
