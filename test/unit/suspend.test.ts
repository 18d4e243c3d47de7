import { notesExpression, readNotes } from '../../nodes/MediaGeneration/sleep/suspend';

const NOTE = { taskId: 't1', complete: false };

test('notes are read back as they were', () => {
	const notes = { id: 's1', items: [NOTE, { taskId: '', complete: true }] };
	expect(readNotes(notes)).toEqual(notes);
	expect(readNotes({ id: 's1', items: [] })).toEqual({ id: 's1', items: [] });
});

test.each<[string, unknown]>([
	['nothing', undefined],
	['null', null],
	['a list', [NOTE]],
	['no ID', { items: [NOTE] }],
	['no items', { id: 's1' }],
	['items that are none', { id: 's1', items: [NOTE, null] }],
	['items without a task', { id: 's1', items: [{ complete: true }] }],
])('%s is no note', (_name, value) => {
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
