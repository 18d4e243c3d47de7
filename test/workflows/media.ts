/** Our own nodes, with random settings. */
import { action, tool } from '../n8n/harness/nodes';
import type { Steering } from '../service';
import { type MediaNode, NAME, tagIn } from './case';
import type { Choices } from './choices';
import type { Graph, Port } from './graph';

/** What each item's tasks are to do is chosen by the item's name. */
const ITEMS = ['i0', 'i1', 'i2', 'i3', 'i4', 'i5', 'none'];

interface Made {
	name: string;
	media: MediaNode;
	/** Whether failed items leave by an output of their own. */
	errorOutput: boolean;
}

function steering(random: Choices): Steering {
	return random.weighted<Steering>([
		[12, {}],
		[2, { end: 'error', error_message: 'no such sound' }],
		[1, { ms: random.between(3000, 8000) }],
		[1, { file_status: 500 }],
		[1, { read_lag_ms: 1500 }],
		[1, { callback_copies: 2 }],
		[1, { no_callback: true }],
		[1, { files: 2 }],
	]);
}

function settings(random: Choices) {
	return {
		onError: random.pick(['stopWorkflow', 'continueRegularOutput', 'continueErrorOutput']),
		...(random.chance(0.35) && {
			retryOnFail: true,
			maxTries: random.between(2, 3),
			waitBetweenTries: random.pick([0, 800]),
		}),
		...(random.chance(0.1) && { alwaysOutputData: true }),
		...(random.chance(0.08) && { executeOnce: true }),
	};
}

/** How a node waits. @param always of "Task: Wait", which can't do without */
function waiting(random: Choices, always = false) {
	const suspends = random.chance(0.5);
	const waits = always || random.chance(0.85);
	// The deadline of a sleep is a minute late, as n8n looks once a minute.
	const isShort = random.chance(suspends ? 0.06 : 0.2);
	const splits = waits && random.chance(suspends ? 0.03 : 0.1);
	return {
		waits,
		suspends: waits && suspends,
		splits,
		parameters: {
			...(!always && !waits && { waitForCompletion: false }),
			...(!waits && random.chance(0.5) && { callbackUrl: '__OTHER_URL__/called' }),
			...(suspends && { waitMode: 'callback' }),
			...(random.chance(0.15) && { downloadOutput: false }),
		},
		options: {
			...(isShort && { timeout: 2 }),
			...(random.chance(0.3) && { onTimeout: 'returnTask' }),
			...(suspends && { gracePeriod: random.pick([0, 0, 1]) }),
			...(splits && { splitFiles: true }),
			...(random.chance(0.5) && { includeInput: true }),
		},
	};
}

/** The braces of a JSON text, apart: two of them end an expression. */
const inExpression = (value: unknown) => JSON.stringify(value).replace(/}(?=})/g, '} ');

/** The fields in which an operation takes its text. */
function operation(random: Choices, text: string) {
	const tasks = Object.fromEntries(ITEMS.map((item) => [item, steering(random)]));
	const steered = `stand_in: (${inExpression(tasks)})[${NAME}] ?? {}`;
	const extraFields = `={{ JSON.stringify({ ${steered} }) }}`;
	const speech = { resource: 'speech', text: `={{ ${text} }}` };
	return random.weighted([
		[4, { resource: 'soundEffect', operation: 'generate', text: speech.text, extraFields }],
		[2, { ...speech, operation: 'generateByVoiceName', voice: 'en-US-AvaNeural', extraFields }],
		[
			2,
			{
				...speech,
				operation: 'generateByVoiceId',
				voiceId: 'voice-00002',
				withTranscript: true,
				extraFields,
			},
		],
		[
			2,
			{
				...{ resource: 'image', operation: 'generate', modelId: 'image-1' },
				...{ prompt: speech.text, extraFields },
			},
		],
		[
			1,
			{
				resource: 'task',
				operation: 'create',
				path: '/v1/task/sound-effect',
				body: `={{ JSON.stringify({ text: ${text}, ${steered} }) }}`,
				extraFields: '',
			},
		],
	]);
}

/** A node that creates tasks. Its name is needed in its own text, so it is filled in afterwards. */
export function addCreating(
	random: Choices,
	graph: Graph,
	{ from, isInLoop }: { from: readonly Port[]; isInLoop: boolean },
): Made {
	const own = settings(random);
	const name = graph.add(action({}, own), from);
	const { extraFields, ...fields } = operation(random, tagIn(name));
	const { waits, suspends, splits, parameters, options } = waiting(random);
	const maximumCredits = random.chance(isInLoop ? 0.5 : 0.12)
		? random.pick([5, 30, 60])
		: undefined;
	graph.node(name).parameters = {
		...fields,
		...parameters,
		options: {
			...options,
			...(extraFields !== '' && { extraFields }),
			...(random.chance(0.3) && { maxActiveTasks: random.pick([1, 2]) }),
			...(maximumCredits !== undefined && { maximumCredits }),
		},
	};
	const executeOnce = own.executeOnce === true;
	const media = { name, kind: 'creates' as const, waits, suspends, executeOnce, splits };
	return {
		name,
		media: { ...media, maximumCredits },
		errorOutput: own.onError === 'continueErrorOutput',
	};
}

export function addWaiting(random: Choices, graph: Graph, from: readonly Port[]): Made {
	const own = settings(random);
	const { suspends, splits, parameters, options } = waiting(random, true);
	const fields = { resource: 'task', operation: 'wait', ...parameters, options };
	const name = graph.add(action(fields, { ...own, name: 'Wait' }), from);
	const executeOnce = own.executeOnce === true;
	const media = { name, kind: 'waits' as const, waits: true, suspends, executeOnce, splits };
	return {
		name,
		media: { ...media, maximumCredits: undefined },
		errorOutput: own.onError === 'continueErrorOutput',
	};
}

/** A node as the tool of an agent; what it is called with is its text. */
export function addTool(random: Choices, graph: Graph, agent: string): MediaNode {
	const retries = random.chance(0.5) ? { retryOnFail: true, maxTries: 2, waitBetweenTries: 0 } : {};
	const timeout = random.chance(0.3) ? { timeout: 1 } : {};
	const fields = {
		text: "={{ /*n8n-auto-generated-fromAI-override*/ $fromAI('Text', `The sound`, 'string') }}",
		options: { ...timeout, extraFields: JSON.stringify({ stand_in: steering(random) }) },
	};
	const name = graph.add(tool(fields, { ...retries, name: 'Tool' }));
	graph.lend(name, agent, 'ai_tool');
	const kind = 'tool' as const;
	const settings = { waits: true, suspends: false, executeOnce: false, splits: false };
	return { name, kind, ...settings, maximumCredits: undefined };
}
