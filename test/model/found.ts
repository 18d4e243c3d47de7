/** What random histories have found, each as short as it can be. The node was wrong in every one of them. */
import { PLAIN_ITEM, PLAIN_NODE, PLAIN_TASK, type CreationFault, type History } from './history';
import { NO_LIST } from './list';

const fault = <K extends CreationFault['kind']>(kind: K, created = false) =>
	({ kind, created, retryAfter: 'none' }) as const;
const unclear = fault('200 empty', true);
const refused = fault('refused');
const named = fault('refusal with a task', true);

const goesOn = { ...PLAIN_NODE, onError: 'continueRegularOutput' } as const;
const again = [{ changed: false }];
const retriedTwice = [...again, ...again];
const listed = { ...NO_LIST, kind: 'data' } as const;
const slow = { ...PLAIN_TASK, seconds: 40 };
const failed = { ...PLAIN_TASK, end: 'error' } as const;
const withoutFiles = { ...PLAIN_TASK, end: 'done without files' } as const;
const hidden = { ...PLAIN_TASK, hiddenFor: 90 };
const joined = { ...PLAIN_ITEM, longText: 'join', parts: 2 } as const;
const inParts = { ...PLAIN_ITEM, longText: 'parts', parts: 2 } as const;
const changing = { ...PLAIN_ITEM, changes: true };
const asleep = { ...PLAIN_ITEM, wait: 'suspend' } as const;
const impatient = { timeout: 5, onTimeout: 'returnTask' } as const;

type Found = [name: string, history: Partial<History>];

/** Before a task is made, between that and its note, and afterwards. */
const refusedUses = [1, 2].flatMap((tries) =>
	Array.from({ length: 16 }, (_, from): Found => [
		`n8n refuses uses ${from} and ${from + 1} of what it keeps for a node with ${tries} tries`,
		{
			node: { ...PLAIN_NODE, tries },
			tasks: [withoutFiles],
			breaks: [{ what: 'context', from, times: 2 }],
		},
	]),
);
export const found: Record<string, Partial<History>> = {
	'a text that differs in each try: the parts stay those of the first one': {
		node: { ...PLAIN_NODE, tries: 2 },
		items: [{ ...joined, changes: true }],
		tasks: [PLAIN_TASK, failed],
	},
	'killed while it waits: the Retry of what n8n has saved finds the task in the list': {
		node: { ...PLAIN_NODE, savesProgress: true },
		list: listed,
		tasks: [slow],
		events: [{ at: 11, kind: 'death' }],
		retries: again,
	},
	'a Retry whose creation is refused: its next try does not take the task of somebody else': {
		seed: 0,
		node: { ...PLAIN_NODE, tries: 2 },
		list: { ...NO_LIST, kind: 'bare', repeats: true, others: ['older'] },
		items: [{ ...PLAIN_ITEM, ...impatient }],
		creations: [fault('200 list'), refused],
		retries: again,
	},
	'a Retry that does not find an unclear creation, and has no credits to send it again: the next Retry looks for it, too':
		{
			seed: 0,
			list: { ...listed, lag: 60 },
			creations: [named, fault('out of credits')],
			retries: retriedTwice,
		},
	'a Retry that sends another text, and is unclear itself, hides nothing of what was unclear before it':
		{
			seed: 0,
			node: { ...PLAIN_NODE, tries: 3 },
			list: { ...listed, lag: 60 },
			items: [changing],
			creations: [named, fault('out of credits'), fault('HTTP 504')],
			retries: retriedTwice,
		},
	"killed after the machine's clock was set back: the Retry reads the list once more": {
		list: listed,
		creations: [fault('HTTP 500')],
		events: [
			{ at: 0.01, kind: 'clock set back' },
			{ at: 0.01, kind: 'death' },
		],
		retries: again,
	},
	'what is noted of the costs can not be read in one try: the next one does not wait for its turn for ever':
		{
			node: { ...PLAIN_NODE, tries: 3, maximumCredits: 0 },
			breaks: [{ what: 'context', from: 33, times: 1 }],
		},
	'stopped in its sleep: the log says which creation is unclear': {
		node: goesOn,
		items: [PLAIN_ITEM, asleep],
		creations: [{ ...unclear, created: false }],
		tasks: [slow],
		events: [{ at: 11, kind: 'stop' }],
	},
	'stopped during the last look before the sleep: the log names the task': {
		items: [asleep],
		looks: [{ kind: 'slow', retryAfter: 'none', json: undefined }],
		tasks: [slow],
		events: [{ at: 0.5, kind: 'stop' }],
	},
	'what a Retry has taken up, its own next try does not make again, though its text changes': {
		node: { ...PLAIN_NODE, tries: 2 },
		items: [changing],
		tasks: [withoutFiles],
		retries: again,
	},
	'an unclear part of a long text does not hide behind another one that was refused': {
		items: [joined],
		creations: [refused, unclear],
	},
	'a part that was refused and named a task does not hide behind an unclear one': {
		items: [inParts],
		creations: [unclear, named],
	},
	'a refusal that comes after the stop, and names a task: the log names it': {
		items: [PLAIN_ITEM],
		creations: [named],
		events: [{ at: 0.01, kind: 'stop' }],
	},
	'a refusal that names a task, and then n8n is killed: the log names it': {
		items: [PLAIN_ITEM, PLAIN_ITEM],
		creations: [named],
		node: goesOn,
		tasks: [PLAIN_TASK, slow],
		events: [{ at: 11, kind: 'death' }],
	},
	'a file of one part is missing while the others still run: the run fails, and does not end without items':
		{ items: [joined, PLAIN_ITEM], files: ['HTTP 404'], tasks: [slow, PLAIN_TASK, slow] },
	'a task of an earlier try that a later one does not come to: the error names it': {
		node: { ...PLAIN_NODE, tries: 3, maxActive: 2 },
		items: [{ ...PLAIN_ITEM, ...impatient }, PLAIN_ITEM, PLAIN_ITEM],
		tasks: [
			{ ...withoutFiles, seconds: 40 },
			{ ...PLAIN_TASK, end: 'never' },
		],
	},
	'a part that ran out of time, and goes on as a task, does not hide that another one was refused':
		{
			node: { ...PLAIN_NODE, tries: 3, maxActive: 2, maximumCredits: 15 },
			items: [PLAIN_ITEM, { ...joined, ...impatient }],
			tasks: [failed, { ...slow, cost: 0 }, hidden],
		},
	'nor that the file of another one could not be fetched': {
		items: [PLAIN_ITEM, { ...joined, ...impatient }],
		creations: [fault('out of credits')],
		looks: [{ kind: 'HTTP 403', retryAfter: 'none', json: undefined }],
		files: ['HTTP 503', 'HTTP 404'],
		tasks: [PLAIN_TASK, { ...PLAIN_TASK, seconds: 4_000 }, slow],
		retries: again,
	},
	'a later try that does not come to an item says that its creation of an earlier one is unclear': {
		node: { ...PLAIN_NODE, tries: 3, maxActive: 2 },
		items: [PLAIN_ITEM, inParts],
		creations: [fault('never answered'), fault('ok'), fault('200 without ID')],
	},
	...Object.fromEntries(refusedUses),
	'a field can not be read in a later try: its item names the task of an earlier one': {
		node: { ...goesOn, tries: 2 },
		breaks: [{ what: 'parameters', from: 14, times: 1_000 }],
		tasks: [hidden],
	},
	'nor can the credential: the error names it': {
		node: { ...PLAIN_NODE, tries: 2 },
		breaks: [{ what: 'credential', from: 1, times: 1_000 }],
		tasks: [hidden],
	},
	'parts that Stop After Credits has refused are not passed over by "Task: Wait"': {
		behind: 'poll',
		node: { ...goesOn, maximumCredits: 15 },
		items: [{ ...joined, parts: 3 }],
	},
	'an item whose fields can not be read any more names both an unclear part and the tasks of the others':
		{
			node: { ...goesOn, tries: 2 },
			breaks: [{ what: 'parameters', from: 14, times: 1_000 }],
			items: [joined],
			creations: [fault('never answered')],
		},
	'and one with two unclear parts whose answers named their tasks names both': {
		node: { ...goesOn, tries: 2 },
		breaks: [{ what: 'parameters', from: 19, times: 2 }],
		items: [inParts, PLAIN_ITEM],
		creations: [fault('sent to a task'), fault('sent to a task')],
	},
	'so does one in an execution that falls asleep': {
		node: { ...goesOn, tries: 3 },
		breaks: [{ what: 'parameters', from: 11, times: 2 }],
		items: [PLAIN_ITEM, asleep],
		tasks: [{ ...PLAIN_TASK, seconds: 4_000 }],
	},
	'separate parts, of which one is unclear and named, are not joined by "Task: Wait"': {
		behind: 'poll',
		node: goesOn,
		items: [inParts],
		creations: [named],
	},
	'a text whose failed part may not be made again is not done with its other parts': {
		behind: 'poll',
		node: { ...goesOn, tries: 2, minimumCredits: 80 },
		items: [{ ...joined, parts: 3 }],
		tasks: [failed],
	},
	'the run halts while an answer is lost, and the list can not be read: the Retry sends nothing again':
		{
			list: { ...listed, faults: ['busy', 'page', 'busy', 'empty'] },
			items: [PLAIN_ITEM, PLAIN_ITEM],
			creations: [fault('out of credits'), unclear],
			retries: again,
		},
	'a node before this one fails: its Retry does not take the equal task of somebody else': {
		list: listed,
		node: { ...PLAIN_NODE, before: 'fails' },
	},
	'killed in the Retry of a node before this one: the next Retry finds what it has made': {
		node: { ...PLAIN_NODE, savesProgress: true },
		list: { ...listed, faults: ['busy', 'page'] },
		tasks: [slow],
		events: [{ at: 11, kind: 'death' }],
		retries: again,
	},
	'a Retry is over while it looks for what is unclear: the next Retry looks for it, too': {
		list: { ...NO_LIST, faults: ['busy'] },
		items: [{ ...PLAIN_ITEM, timeout: 5 }, PLAIN_ITEM],
		creations: [fault('redirected'), fault('200 without ID')],
		tasks: [hidden],
		retries: retriedTwice,
	},
	'found when its Timeout is over, beside an item that keeps the run from sleeping: its time begins then':
		{
			list: listed,
			items: [{ ...asleep, timeout: 60 }, PLAIN_ITEM],
			creations: [fault('never answered', true)],
		},
	'stopped, then n8n does not say which execution it was: the log names the task': {
		items: [PLAIN_ITEM, PLAIN_ITEM],
		breaks: [{ what: 'execution ID', from: 3, times: 1 }],
		events: [{ at: 0.01, kind: 'stop' }],
	},
};
