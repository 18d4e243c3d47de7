/** What must be given before anything is paid for, so that an execution can sleep and wake again. README, "Waiting". */
import type { IExecuteFunctions, IHttpRequestOptions } from 'n8n-workflow';
import { FailureError } from '../../nodes/MediaGeneration/base/failures';
import { isToolRun } from '../../nodes/MediaGeneration/n8n/execution';
import { checkSuspension } from '../../nodes/MediaGeneration/suspend/checks';
import { CONTEXT_FIELD } from '../../nodes/MediaGeneration/suspend/notes';

const PUBLIC = 'https://n8n.example/webhook-waiting/7?signature=token';
const PRIVATE = 'http://localhost:5678/webhook-waiting/7?signature=token';
const SERVICE = 'https://api.example';

interface Setting {
	resumeUrl?: unknown;
	type?: string;
	isToolExecution?: () => boolean;
	/** Whether n8n gives access to a node of this name; or what it says instead. */
	reads?: boolean | Error;
	/** How this n8n answers a call to itself; undefined where it does not. */
	status?: number;
	noted?: unknown;
	executionId?: string | null;
}

function contextOf({
	resumeUrl = PUBLIC,
	type = 'n8n-nodes-media-generation.mediaGeneration',
	isToolExecution,
	reads = true,
	status,
	noted,
	executionId = '7',
}: Setting = {}) {
	const store: Record<string, unknown> = noted === undefined ? {} : { [CONTEXT_FIELD]: noted };
	const called: IHttpRequestOptions[] = [];
	const context = {
		...(isToolExecution === undefined ? {} : { isToolExecution }),
		getNode: () => ({ id: 'node-1', name: 'Media', type }),
		getContext: () => store,
		getExecutionId: () => executionId ?? undefined,
		evaluateExpression(expression: string) {
			if (expression === '{{ $execution.resumeUrl }}') return resumeUrl;
			if (reads instanceof Error) throw reads;
			return reads && expression.includes('"Media"') ? store[CONTEXT_FIELD] : undefined;
		},
		helpers: {
			async httpRequest(options: IHttpRequestOptions) {
				called.push(options);
				if (status === undefined) throw new Error('connect ECONNREFUSED');
				return await Promise.resolve({ statusCode: status, headers: {}, body: {} });
			},
		},
	} as unknown as IExecuteFunctions;
	return { context, store, called };
}

async function refusal(setting: Setting, baseUrl = SERVICE) {
	const { context, called } = contextOf(setting);
	const thrown: unknown = await checkSuspension(context, baseUrl).catch((error: unknown) => error);
	expect(thrown).toBeInstanceOf(FailureError);
	const { failure } = thrown as FailureError;
	expect(failure.outcome).toBe('invalid');
	expect(failure.description).toMatch(/Nothing was created\./);
	expect(failure.description).toMatch(/set Wait Mode to "Poll"/);
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

test.each([
	['in public', PUBLIC, SERVICE],
	['in the same private network', PRIVATE, 'http://127.0.0.1:5701'],
])(
	'where the service can reach this n8n, %s: it is called back, and nothing is tried',
	async (_name, resumeUrl, baseUrl) => {
		const { context, called } = contextOf({ resumeUrl });
		expect(await checkSuspension(context, baseUrl)).toEqual({
			resumeUrl: resumeUrl.replace('?', '/node-1?'),
			callable: true,
		});
		expect(called).toEqual([]);
	},
);

describe('where it can not', () => {
	test.each([409, 200, 204, 399])(
		'this n8n looks itself, if it reaches itself: %d',
		async (status) => {
			const { context, called } = contextOf({ resumeUrl: PRIVATE, status });
			expect(await checkSuspension(context, SERVICE)).toEqual({
				resumeUrl: PRIVATE.replace('?', '/node-1?'),
				callable: false,
			});
			expect(called).toMatchObject([
				{ method: 'POST', url: PRIVATE.replace('?', '/node-1?'), body: {} },
			]);
		},
	);

	test.each<[number | undefined, string]>([
		[400, 'it answered HTTP 400'],
		[404, 'it answered HTTP 404'],
		[502, 'it answered HTTP 502'],
		[undefined, 'the connection was refused'],
	])('and if not, nothing is paid for: %j', async (status, seen) => {
		const { message, description } = await refusal({ resumeUrl: PRIVATE, status });
		expect(message).toBe(
			`The execution can't be suspended: the service can't reach this n8n, and this n8n can't reach its own address http://localhost:5678 (${seen})`,
		);
		expect(description).toMatch(/Set N8N_WEBHOOK_URL.*N8N_SSRF_PROTECTION_ENABLED/);
	});
});
