/** What must be given before anything is paid for, so that an execution can sleep and wake again. README, "Waiting". */
import { FailureError } from '../../nodes/MediaGeneration/base/outcomes';
import { cleanerOf } from '../../nodes/MediaGeneration/n8n/clean';
import { isToolRun } from '../../nodes/MediaGeneration/n8n/execution';
import { checkSuspension, warnOfWorkflowTimeout } from '../../nodes/MediaGeneration/suspend/checks';
import { fakeN8n } from '../support/n8n';

const TOKEN = 'token-0123456789';
const PUBLIC = `https://n8n.example/webhook-waiting/7?signature=${TOKEN}`;
const PRIVATE = `http://localhost:5678/webhook-waiting/7?signature=${TOKEN}`;
const SERVICE = 'https://api.example';

interface Setting {
	resumeUrl?: unknown;
	type?: string;
	isToolExecution?: () => boolean;
	/** Whether n8n gives access to a node of this name; or what it says instead. */
	reads?: boolean | Error;
	/** How this n8n answers a call to itself; undefined where it does not. */
	answered?: { statusCode: number; body: unknown; headers?: object };
	/** The workflow's own Timeout, in seconds; null in an n8n that can not say. */
	executionTimeout?: number | null;
	/** The workflow's setting. */
	binaryMode?: 'combined' | 'separate';
	executionId?: string | null;
}

function contextOf({
	resumeUrl = PUBLIC,
	type = 'n8n-nodes-media-generation.mediaGeneration',
	isToolExecution,
	reads = true,
	answered,
	executionTimeout,
	binaryMode,
	executionId = '7',
}: Setting = {}) {
	const fake = fakeN8n({
		...(answered !== undefined && { http: () => answered }),
		node: { type },
		executionId,
		settings: { executionTimeout, binaryMode },
		resumeUrl,
		own: { isToolExecution },
	});
	const { context } = fake;
	const evaluate = context.evaluateExpression.bind(context);
	context.evaluateExpression = (expression, ...of) => {
		const isNotes = expression.includes('"Media"');
		if (isNotes && reads instanceof Error) throw reads;
		return isNotes && reads === false ? undefined : evaluate(expression, ...of);
	};
	return { ...fake, called: fake.asked };
}

async function refusal(setting: Setting, baseUrl = SERVICE) {
	const { context, called } = contextOf(setting);
	const thrown: unknown = await checkSuspension(context, baseUrl).catch((error: unknown) => error);
	expect(thrown).toBeInstanceOf(FailureError);
	const { failure } = thrown as FailureError;
	expect(failure.outcome).toBe('invalid');
	expect(failure.description).toMatch(/Nothing was created\./);
	expect(failure.description).toMatch(/set 'Wait Mode' to "Poll"/);
	return { ...failure, called };
}

test.each([undefined, 7, 'nonsense', 'https://n8n.example/webhook-waiting/7'])(
	'%j is none that could wake only by its token',
	async (resumeUrl) => {
		// As undefined stands for the default here, null is what n8n has where there is none.
		const setting = { resumeUrl: resumeUrl ?? null };
		const { message, description } = await refusal(setting);
		expect(message).toBe('This n8n gives no signed resume URL, which suspending needs');
		expect(description).toMatch(/Update n8n to 2\.14 or newer/);
	},
);

test.each<[string, Setting, boolean]>([
	['n8n says so', { isToolExecution: () => true }, true],
	['n8n says that it is not', { isToolExecution: () => false }, false],
	['an n8n that can not say, a node of another type', {}, false],
	['the type says so', { type: 'x.mediaGenerationTool' }, true],
	['the type says so, whatever n8n says', { type: 'x.aTool', isToolExecution: () => false }, true],
	['a type that only begins so', { type: 'Tool.media' }, false],
	["one of n8n's Agents, without an execution", { executionId: null }, true],
])('as a tool of an agent: %s', async (_name, setting, tool) => {
	expect(isToolRun(contextOf(setting).context)).toBe(tool);
	if (tool)
		expect((await refusal(setting)).message).toBe(
			"An execution can't be suspended while the node runs as a tool of an AI agent",
		);
});

test.each<[string, Setting]>([
	['reads nothing by it', { reads: false }],
	['refuses it', { reads: new Error('not allowed') }],
])('a name by which n8n %s is refused', async (_name, setting) => {
	const { message, description } = await refusal(setting);
	expect(message).toBe('An execution can\'t be suspended by a node with the name "Media"');
	expect(description).toMatch(/Rename the node/);
});

const said = (statusCode: number, body: unknown) => ({ statusCode, body });
const RUNNING = said(409, { code: 0, message: 'The execution "7" is running already.' });
const OF_NONE = { code: 0, message: 'The execution "7" does not exist.' };

test.each(['7c9e6679-7425-40de-944b-e07fc1f90ae7', 'a7'])(
	'the execution ID %j is that of an engine that wakes executions in another way',
	async (executionId) => {
		const { message } = await refusal({ executionId, answered: RUNNING });
		expect(message).toMatch(/engine whose executions this node can't suspend/);
	},
);

test('n8n 2.41 refuses every call for a node of version 1 in a workflow of the combined binary mode', async () => {
	const { message } = await refusal({ binaryMode: 'combined', answered: RUNNING });
	expect(message).toMatch(/with the workflow setting "binaryMode: combined"$/);
	const { context } = contextOf({ binaryMode: 'separate', answered: RUNNING });
	expect(await checkSuspension(context, SERVICE)).toMatchObject({ callable: true });
});

test.each([
	['in public', PUBLIC, SERVICE, true],
	['in the same private network', PRIVATE, 'http://127.0.0.1:5701', true],
	['not at all', PRIVATE, SERVICE, false],
])(
	'whether the service reaches this n8n, %s: its own address is tried in every case',
	async (_name, given, baseUrl, callable) => {
		const { context, called, hints, kept } = contextOf({ resumeUrl: given, answered: RUNNING });
		const resumeUrl = given.replace('?', '/media-generation?');
		expect(await checkSuspension(context, baseUrl)).toEqual({ resumeUrl, callable });
		// Nothing that leaves from now on holds its token, wherever it stands.
		expect(cleanerOf(context).text(`a ${TOKEN}`)).toBe('a ***');
		const safely = { json: true, disableFollowRedirect: true };
		expect(called).toMatchObject([{ method: 'POST', url: resumeUrl, body: {}, ...safely }]);
		// What was tried by the node's name is gone.
		expect(kept).toEqual({});
		expect(hints).toEqual([]);
	},
);

const NO_DATA = "Cannot read properties of undefined (reading 'resumeToken')";
const FORM = { location: '/form-waiting/7/media-generation?signature=token' };
test.each<[string, Setting['answered']]>([
	['fails for an execution which it has not saved yet', said(500, { code: 0, message: NO_DATA })],
	['sends the caller to a form that was filled in', { statusCode: 307, headers: FORM, body: '' }],
])('n8n that %s has answered, too', async (_name, answered) => {
	const { context, hints } = contextOf({ answered });
	await checkSuspension(context, SERVICE);
	expect(hints).toEqual([]);
});

describe('where this n8n does not answer at its own address', () => {
	const headers = { location: '/n8n/webhook-waiting/7/media-generation?signature=token' };
	const MOVED = { statusCode: 308, headers, body: '' };
	const cases: Array<[string, Setting, string]> = [
		['a bad gateway', { answered: said(502, '') }, 'it answered HTTP 502'],
		['another server', { answered: said(404, '<html>') }, 'it answered HTTP 404'],
		['a page of one', { answered: said(200, '<html>') }, 'it answered HTTP 200'],
		['a proxy with a login', { answered: said(401, { error: 'log in' }) }, 'it answered HTTP 401'],
		['one that adds a prefix', { answered: MOVED }, 'it answered HTTP 308'],
		['another n8n', { answered: said(404, OF_NONE) }, 'it answered HTTP 404'],
		['nobody', {}, 'the connection was refused'],
	];

	test.each(cases)(
		'but %s: nothing is paid for, or, where callbacks can come, a hint and the log say so',
		async (_name, setting, seen) => {
			const { message, description } = await refusal({ resumeUrl: PRIVATE, ...setting });
			expect(message).toBe(
				`The execution can't be suspended: the service can't reach this n8n, and this n8n can't reach its own address http://localhost:5678 (${seen})`,
			);
			expect(description).toMatch(/Set N8N_WEBHOOK_URL.*N8N_SSRF_PROTECTION_ENABLED/);
			const { context, hints, warnings } = contextOf(setting);
			expect((await checkSuspension(context, SERVICE)).callable).toBe(true);
			const words = `own address https://n8n.example/webhook-waiting/7/media-generation (${seen}). Set N8N_WEBHOOK_URL`;
			for (const said of [hints.map((hint) => hint.message), warnings])
				expect(said).toEqual([expect.stringContaining(words)]);
			expect(warnings[0]).not.toContain('token');
		},
	);
});

test.each([90, 120, -1, null])(
	"a workflow's own Timeout of %j s is told of where it is shorter than 120 s",
	(executionTimeout) => {
		const isTold = executionTimeout === 90;
		const { context, hints, warnings } = contextOf({ executionTimeout });
		warnOfWorkflowTimeout(context, 120_000);
		const hint =
			"The workflow's own Timeout (90 s) ends before the Timeout of this node (2 minutes)";
		expect(hints.map(({ message }) => message)).toEqual(isTold ? [hint] : []);
		expect(warnings).toEqual(isTold ? [expect.stringContaining(`${hint}: n8n cancels`)] : []);
	},
);
