/** What the fields of waiting and the options are read as, for an item and for the run, and how bad ones are refused. */
import type { INodeParameters } from 'n8n-workflow';
import { readRunSettings } from '../../nodes/MediaGeneration/actions/creditLimits';
import { ItemFields } from '../../nodes/MediaGeneration/actions/fields';
import { NodeParameters } from '../../nodes/MediaGeneration/actions/parameters';
import { readItemSettings, type ItemSettings } from '../../nodes/MediaGeneration/actions/waiting';
import { fakeN8n } from '../support/n8n';
import { fieldsWith, refusalOf } from './itemFields';

type Fields = Record<string, unknown>;

const read = (fields: Fields, alwaysWaits = false) =>
	readItemSettings(fieldsWith(fields), alwaysWaits);

const PLAIN: ItemSettings = {
	waiting: { kind: 'poll' },
	longText: { kind: 'off' },
	files: {
		download: true,
		outputBinaryField: 'data',
		maxFileBytes: 500_000_000,
		splitFiles: false,
		transcriptInOutput: false,
	},
	callbackReference: undefined,
	timeoutMs: 600_000,
	onTimeout: 'error',
	minimumCredits: undefined,
	sendUnclearAgain: false,
};
const suspended = { waitMode: 'callback' };
const asleep = (fields: Partial<{ graceMs: number }> = {}) => ({
	waiting: { kind: 'suspend', graceMs: 10_000, ...fields },
	timeoutMs: 86_400_000,
});

test('without any field', () => {
	expect(read({})).toEqual(PLAIN);
	expect(read({}, true)).toEqual(PLAIN);
});

const files = (fields: object) => ({ files: { ...PLAIN.files, ...fields } });
const sleeping = (options: Fields) => ({ ...suspended, options });
const not = { waitForCompletion: false };
const callbackUrl = 'https://n8n.example/x';
/** The last one that every database of n8n takes, in s. */
const LONGEST = 7_870 * 365 * 86_400;
const options: Array<[string, unknown, object]> = [
	['maxFileSize', 2, files({ maxFileBytes: 2_000_000 })],
	['fileName', 'the-lamp', files({ fileName: 'the-lamp' })],
	['fileName', '', {}],
	['splitFiles', true, files({ splitFiles: true })],
	['transcriptInOutput', true, files({ transcriptInOutput: true })],
	['timeout', 30, { timeoutMs: 30_000 }],
	['timeout', LONGEST, { timeoutMs: 1_000 * LONGEST }],
	['onTimeout', 'returnTask', { onTimeout: 'returnTask' }],
	['minimumCredits', 5, { minimumCredits: 5 }],
	['minimumCredits', 0, {}],
	['sendUnclearAgain', true, { sendUnclearAgain: true }],
	['callbackReference', 'order 7', { callbackReference: 'order 7' }],
	['callbackReference', false, { callbackReference: 'false' }],
];
const parts = { longText: 'parts' };
const join = { longText: 'join' };
const joined = { kind: 'join', maxCharacters: 2_500, pauseMs: 0 };
test.each<[Fields, object]>([
	[{ waitMode: 'poll' }, {}],
	[suspended, asleep()],
	[sleeping({ gracePeriod: 0 }), asleep({ graceMs: 0 })],
	[sleeping({ gracePeriod: 2.5 }), asleep({ graceMs: 2_500 })],
	[not, { waiting: { kind: 'no', callbackUrl: undefined } }],
	[{ ...not, ...suspended, callbackUrl }, { waiting: { kind: 'no', callbackUrl } }],
	[{ callbackUrl }, {}],
	[{ downloadOutput: 'false' }, files({ download: false })],
	[{ downloadOutput: ' FALSE' }, files({ download: false })],
	[{ downloadOutput: '' }, {}],
	[{ outputBinaryField: ' sound' }, files({ outputBinaryField: 'sound' })],
	[{ outputBinaryField: ' ' }, {}],
	[{ outputFormat: 'ulaw_8000' }, files({ format: 'ulaw_8000' })],
	...options.map(([name, value, expected]): [Fields, object] => [
		{ options: { [name]: value } },
		expected,
	]),
	[{ longText: 'off', options: { maxCharacters: 'x' } }, {}],
	[parts, { longText: { kind: 'parts', maxCharacters: 2_500 } }],
	[
		{ ...parts, options: { maxCharacters: '50' } },
		{ longText: { kind: 'parts', maxCharacters: 50 } },
	],
	[join, { longText: joined }],
	[{ ...join, options: { pauseBetweenParts: '250' } }, { longText: { ...joined, pauseMs: 250 } }],
])('%j', (fields, expected) => {
	expect(read(fields)).toEqual({ ...PLAIN, ...expected });
});

test('a task made earlier is always waited for, and has no long text', () => {
	const fields = { waitForCompletion: false, longText: 'join', options: { maxCharacters: 1 } };
	expect(read(fields, true)).toEqual(PLAIN);
	expect(read({ waitMode: 'callback' }, true)).toMatchObject(asleep({ graceMs: 1_000 }));
});

describe('refused in words', () => {
	const noFiles = { ...join, downloadOutput: false };
	const splitting = sleeping({ splitFiles: true });
	const TO_WAIT = /Turn 'Wait for Completion' on, or/;
	const TO_POLL = /^Set 'Wait Mode' to Poll, or change that field/;
	test.each<[Fields, RegExp, RegExp]>([
		[{ ...join, ...not }, /^'Long Text: Join.*needs to wait for its/, TO_WAIT],
		[noFiles, /needs the files of its parts$/, /Turn 'Download Output' on, or/],
		[{ ...parts, ...suspended }, /^'Long Text: One Item.* be combined with Suspend: /, TO_POLL],
		[splitting, /^'Split Files' can't be combined with Suspend: /, TO_POLL],
	])('%j does not go together', (fields, message, advice) => {
		const refusal = refusalOf(() => read(fields));
		expect(refusal.message).toMatch(message);
		expect(refusal.description).toMatch(advice);
		expect(refusal.description).toMatch(/Nothing was sent\.$/);
	});
});

describe('settings of the run', () => {
	const ofRun = (given: Fields) => readRunSettings(fieldsWith({ options: given }));

	test.each<[Fields, object]>([
		[{}, { maxActiveTasks: 20, maximumCredits: undefined }],
		[{ maxActiveTasks: '3.9' }, { maxActiveTasks: 3, maximumCredits: undefined }],
		[{ maximumCredits: 0 }, { maxActiveTasks: 20, maximumCredits: 0 }],
		[{ maximumCredits: '7.5' }, { maxActiveTasks: 20, maximumCredits: 7.5 }],
	])('%j', (given, expected) => {
		expect(ofRun(given)).toEqual(expected);
	});

	test('Stop After Credits of nothing is refused: it does not mean "no limit"', () => {
		const { message } = refusalOf(() => ofRun({ maximumCredits: undefined }));
		expect(message).toBe("'Stop After Credits' must be a number of at least 0");
	});
});

test('n8n reads what has no expression once for all items', () => {
	const given: INodeParameters = {
		waitMode: 'poll',
		callbackUrl: '={{ $json.url }}',
		options: { timeout: 5 },
	};
	const asked: string[] = [];
	const getNodeParameter = (name: string, index: number, fallback: unknown) => {
		asked.push(`${name} ${index}`);
		return name === 'callbackUrl' ? `https://n8n.example/${index}` : (given[name] ?? fallback);
	};
	const { context } = fakeN8n({ node: { parameters: given }, own: { getNodeParameter } });
	const parameters = new NodeParameters(context);
	const urls = [0, 1].map((index) => {
		const { waiting } = readItemSettings(new ItemFields(context, index, parameters), false, true);
		return waiting.callbackUrl;
	});
	expect(urls).toEqual(['https://n8n.example/0', 'https://n8n.example/1']);
	expect(asked.filter((each) => each.endsWith(' 1'))).toEqual(['callbackUrl 1']);
});
