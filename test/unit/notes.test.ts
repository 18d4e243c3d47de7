import {
	notesExpression,
	openTasks,
	readNotes,
	writeNotes,
	type Notes,
} from '../../nodes/MediaGeneration/sleep/notes';
import type { Watch } from '../../nodes/MediaGeneration/wait/poll';

const WATCH: Watch = {
	taskId: 't1',
	kind: 'speech',
	createdAt: 1,
	deadline: 2,
	echoes: ['https://files.example/in.mp3'],
	pace: 'asleep',
};
const FILES = {
	download: true,
	binaryPropertyName: 'data',
	maxFileBytes: 1,
	splitFiles: false,
	transcriptInOutput: false,
};
const ASSEMBLY = { longText: { kind: 'off' as const }, texts: [''] };
const OPEN = {
	kind: 'open' as const,
	tasks: [WATCH, { ...WATCH, taskId: 't2' }],
	files: FILES,
	assembly: ASSEMBLY,
};
const NOTES: Notes = { id: 's1', watched: true, items: [OPEN, { kind: 'complete' }] };

test('notes are kept as one text, so that an expression has one value to hand over', () => {
	const kept: unknown = writeNotes(NOTES);
	expect(typeof kept).toBe('string');
	expect(readNotes(kept)).toEqual(NOTES);
});

test('notes of an execution that fell asleep before they were a text are read back as they were', () => {
	expect(readNotes(JSON.parse(JSON.stringify(NOTES)))).toEqual(NOTES);
	expect(readNotes({ ...NOTES, watched: false })).toEqual({ ...NOTES, watched: false });
	expect(readNotes({ id: 's1', watched: true, items: [] })).toEqual({
		id: 's1',
		watched: true,
		items: [],
	});
});

test('the open tasks are those of all items, in order', () => {
	const third = { ...OPEN, tasks: [{ ...WATCH, taskId: 't3' }] };
	const tasks = openTasks({ ...NOTES, items: [...NOTES.items, third] });
	expect(tasks.map(({ taskId }) => taskId)).toEqual(['t1', 't2', 't3']);
});

const without = (field: keyof Watch) =>
	Object.fromEntries(Object.entries(WATCH).filter(([name]) => name !== field));
const itemsOf = (item: unknown) => ({ id: 's1', watched: true, items: [OPEN, item] });

test.each<[string, unknown]>([
	['nothing', undefined],
	['null', null],
	['a text that is no JSON', 'noted'],
	['a list', [OPEN]],
	['no ID', { items: [OPEN] }],
	['no items', { id: 's1' }],
	['items that are none', itemsOf(null)],
	['items of an unknown kind', itemsOf({ kind: 'other' })],
	['items of an unknown kind, with all that an open one has', itemsOf({ ...OPEN, kind: 'other' })],
	['an open item without tasks', itemsOf({ ...OPEN, tasks: [] })],
	['an open item whose tasks are not a list', itemsOf({ ...OPEN, tasks: 't1' })],
	['an open item without file settings', itemsOf({ ...OPEN, files: undefined })],
	['a task without an ID', itemsOf({ ...OPEN, tasks: [without('taskId')] })],
	['a task without a time', itemsOf({ ...OPEN, tasks: [without('createdAt')] })],
	['a task without a deadline', itemsOf({ ...OPEN, tasks: [WATCH, without('deadline')] })],
])('%s is not a note', (_name, value) => {
	expect(readNotes(value)).toBeUndefined();
});

test.each([
	'Media Generation',
	'it\'s "quoted"',
	'back\\slash',
	'}} {{ $env.SECRET }}',
	'a\nb',
	'`${x}`',
])('the name %j can neither end nor extend the expression', (name) => {
	const expression = notesExpression(name);
	const inside = expression.slice(2, -2);
	expect(expression.startsWith('{{') && expression.endsWith('}}')).toBe(true);
	expect(inside).not.toMatch(/[{}]/);
	const quoted = /\$node\[(".*")\]\.context\["suspension"\]/s.exec(inside)?.[1] ?? '';
	expect(JSON.parse(quoted)).toBe(name);
});
