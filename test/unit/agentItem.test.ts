/** As a tool: an agent gets what it can use, and no more than its model's prompt can hold. */
import type { IDataObject } from 'n8n-workflow';
import { agentItem } from '../../nodes/MediaGeneration/items/agentItem';

const compact = (json: IDataObject) => agentItem({ json, pairedItem: { item: 0 } }).json;
const done = { task_id: 't', status: 'done', type: 'speech', credit_cost: 2, metadata: { a: 1 } };
const LONG = 'word '.repeat(20_000);
const held = `data:image/png;base64,${'A'.repeat(5_000_000)}`;
const signed = (index: number) => `https://files.example/${index}?signature=${'x'.repeat(700)}`;

test('the task, its files and what it cost, in a few characters', () => {
	const outputs = [
		{ url: held, kind: 'image', fileName: 'a.png' },
		...[1, 2, 3, 4, 5].map((index) => ({ url: signed(index), kind: 'image' })),
	];
	const json = compact({ ...done, outputs, text: LONG, input: { text: LONG }, transcript: [] });
	expect(json).toMatchObject({ task_id: 't', status: 'done', type: 'speech', credit_cost: 2 });
	expect(json.outputs).toEqual([{ kind: 'image', fileName: 'a.png' }, outputs[1], outputs[2]]);
	expect(json.more_outputs).toBe(3);
	expect(JSON.stringify(json).length).toBeLessThan(3_000);
	expect(json).not.toHaveProperty('metadata');
});

test('what is under way, and the addresses that fit beside one that is too long', () => {
	const url = 'https://files.example/b';
	const outputs = [{ url: `${url}?signature=${'x'.repeat(3_000)}` }, { url }];
	expect(compact({ task_id: 't', status: 'doing', progress: 40, outputs })).toEqual({
		...{ task_id: 't', status: 'doing', progress: 40 },
		...{ more_outputs: 1, outputs: [{ url }] },
	});
});

test.each<[string, IDataObject]>([
	['its own', { text: LONG }],
	['in the metadata', { metadata: { text: LONG } }],
	['in a transcript', { transcript: [{ text: LONG, start: 0, end: 1 }] }],
])('a text is the result, up to 20,000 characters: %s', (_name, fields) => {
	const outputs = [{ url: signed(1), kind: 'transcript' }];
	expect(compact({ task_id: 't', ...fields, outputs }).text).toBe(LONG.slice(0, 20_000));
});

test('an error keeps its next step, and what is open the IDs to wait for', () => {
	const failed = { error: 'Late', description: 'Wait for it', outcome: 'timed_out', task_id: 't' };
	expect(compact({ ...failed, task_ids: ['t', 'u'], parts: [{ part: 1 }] })).toEqual({
		...failed,
		task_ids: ['t', 'u'],
		outputs: [],
	});
	const shown = { task_id: 't', status: 'error', error_message: 'No luck' };
	expect(compact({ ...shown, metadata: {} })).toEqual({ ...shown, outputs: [] });
	const open = { task_id: 't', unfinished: true };
	expect(compact({ ...open, long_text: { mode: 'join' } })).toEqual({ ...open, outputs: [] });
});

test('no other field is longer than the text can be', () => {
	const json = compact({
		...done,
		status: LONG,
		type: LONG,
		error_message: LONG,
		task_error: { a: LONG },
	});
	expect(JSON.stringify(json).length).toBeLessThan(20_000);
});

test('what is no task stays as it is', () => {
	const voice = { voice_id: 'v', name: 'Ada' };
	expect(compact(voice)).toBe(voice);
});
