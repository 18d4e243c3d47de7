/** Reduces an item to what an AI agent can use: n8n puts all of a tool's output into the model's prompt. */
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { isDataUrl } from '../answers/outputs';
import { MAX_TASK_ID } from '../base/bounds';
import { asText, isObject } from '../base/json';
import { mapTexts } from '../base/mapTexts';
import { present } from './itemJson';
import { shownOutputs } from './shownItem';

const MOST_CHARACTERS = 20_000;
/** Limits the outputs that are shown: signed addresses are long, and half of one is of no use. */
const MOST_IN_OUTPUTS = 2_000;
const KEPT = [
	...['task_id', 'task_ids', 'status', 'progress', 'type', 'credit_cost', 'unfinished'],
	'duration_seconds',
	...['joined', 'part', 'error', 'description', 'outcome', 'http_status', 'candidates', 'hint'],
	// Task: Get and Get Many show these of a task that failed.
	...['error_message', 'task_error'],
];

/** The longest ID is as long, and no other of these texts says more. */
const cut = (text: string) => text.slice(0, MAX_TASK_ID);

/** Finds the text that is a task's result. The text of a task with a sound or a picture is its request. */
function resultText({ text, transcript, metadata }: IDataObject): string | undefined {
	const fields = isObject(metadata) ? metadata : {};
	const cues: unknown[] = Array.isArray(transcript) ? transcript : [];
	const said = cues.filter(isObject).map((cue) => asText(cue.text) ?? '');
	const found = [text, fields.text, fields.transcript, said.join(' ')];
	return found.flatMap((each) => asText(each) ?? [])[0];
}

/** Leaves an item that is no task as it is. */
export function agentItem(item: INodeExecutionData): INodeExecutionData {
	const { json } = item;
	if (asText(json.task_id) === undefined) return item;
	const outputs: IDataObject[] = [];
	let length = 0;
	for (const { url = '', ...output } of shownOutputs(item)) {
		const shown = { ...(url === '' || isDataUrl(url) ? {} : { url }), ...output };
		const more = JSON.stringify(shown).length;
		if (length + more > MOST_IN_OUTPUTS) continue;
		length += more;
		outputs.push(shown);
	}
	const left = shownOutputs(item).length - outputs.length;
	const isMedia = outputs.some(({ kind }) => kind === 'audio' || kind === 'image');
	const text = isMedia ? undefined : resultText(json)?.slice(0, MOST_CHARACTERS);
	const kept = mapTexts(Object.fromEntries(KEPT.map((name) => [name, json[name]])), cut);
	const more_outputs = left > 0 ? left : undefined;
	return { ...item, json: present({ ...kept, more_outputs, outputs, text }) };
}
