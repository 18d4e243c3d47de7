import {
	notesReference,
	readNotes,
	writeNotes,
	type WaitingTask,
	type Notes,
} from '../../nodes/MediaGeneration/suspend/notes';
import { now } from '../../nodes/MediaGeneration/base/clock';
import { FILES } from './itemSettings';

const WATCH: WaitingTask = {
	taskId: 't1',
	createdAt: 1_000_000,
	deadline: 2_000_000,
	requestAddresses: ['https://files.example/in.mp3'],
	named: false,
	callsBack: true,
};
const OPEN = {
	tasks: [WATCH, { ...WATCH, taskId: 't2' }],
	files: FILES,
	carriesInput: false,
};
const NOTES: Notes = { id: 's1', items: [OPEN, null] };

test("notes are kept as one text, by the machine's clock", () => {
	jest.spyOn(Date, 'now').mockReturnValue(now() + 3_600_000);
	const kept = writeNotes(NOTES);
	expect(kept).toMatch(/"createdAt":4(599|600)\d{3}[^,]*,"deadline":5(599|600)\d{3}/);
	const read = readNotes(kept);
	jest.restoreAllMocks();
	if (read === undefined) throw new Error(kept);
	const [first] = read.items;
	expect(first?.tasks[0]?.createdAt).toBeCloseTo(1_000_000, -3);
	expect({ ...read, items: read.items.length }).toEqual({ id: 's1', items: 2 });
});

test.each([...[undefined, null, 7, {}, 'noted', '[]'], '{"items":[]}', '{"id":"s1"}'])(
	'%j is no note',
	(value) => {
		expect(readNotes(value)).toBeUndefined();
	},
);

test.each(['Media Generation', 'it\'s "quoted"', 'back\\slash', '}} {{ $env.SECRET }}', '`${x}`'])(
	'the name %j can neither end nor extend the expression',
	(name) => {
		const inside = notesReference(name);
		expect(inside).not.toMatch(/[{}]/);
		const quoted = /\$node\[(".*")\]\.context\["suspension"\]/s.exec(inside)?.[1] ?? '';
		expect(JSON.parse(quoted)).toBe(name);
	},
);
