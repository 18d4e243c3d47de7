/** Which of its two routes speech by voice ID takes, and whose answer counts (docs/service.md, "Two speech routes"). */
import { isDeepStrictEqual } from 'node:util';
import { readCreation } from '../../nodes/MediaGeneration/answers/creation';
import { sendByRoute } from '../../nodes/MediaGeneration/task/speechRoute';
import type { CreationRequest } from '../../nodes/MediaGeneration/answers/request';
import type { SpeechRoute } from '../../nodes/MediaGeneration/transport/account';
import type { Reply } from '../../nodes/MediaGeneration/answers/reply';
import { answer, noAnswer, scriptedClient } from '../support/replies';

const CREATED = answer(200, { success: true, task_id: 't1' });
const refusal = (message: string, status = 200) => answer(status, { success: false, message });
const MOVED = refusal('please use api v3 for this endpoint');
const NOWHERE = refusal('Not found', 404);

interface Case {
	voice?: string;
	kind?: string;
	/** What the account has learnt before. */
	learnt?: SpeechRoute;
	isOver?: boolean;
	/** Further fields of the body. */
	more?: object;
	v1?: Reply;
	v3?: Reply;
}

async function sent({ voice = 'a', kind = 'speech-v1', more, ...given }: Case) {
	const { learnt, isOver = false } = given;
	const { v1 = CREATED, v3 = answer(200, { success: true, task_id: 't3' }) } = given;
	const client = scriptedClient(({ path }) => (path === '/v3/text-to-speech' ? v3 : v1));
	const { account, requests } = client;
	account.speechRoute = learnt;
	const request: CreationRequest = {
		kind,
		path: `/v1/text-to-speech/${voice}`,
		pathFields: { voice_id: voice },
		qs: { output_format: 'wav' },
		body: { text: 'Hello', ...more },
	};
	const over = isOver ? AbortSignal.abort() : new AbortController().signal;
	const creation = await sendByRoute(client, request, over);
	const isByV3 = isDeepStrictEqual(creation, readCreation(v3, request));
	const tried = requests.map(({ path }) => path.slice(1, 3)).join();
	return {
		wires: requests,
		/** The routes in the order of their requests, whose answer counts, and the one learnt. */
		summary: `${tried}: ${isByV3 ? 'v3' : 'v1'} ${account.speechRoute}`,
	};
}

test.each<[string, Case, string]>([
	['v1 first', {}, 'v1: v1 undefined'],
	['v3 once v1 refers to it, and from then on', { v1: MOVED }, 'v1,v3: v3 v3'],
	['v3 first where that is known', { learnt: 'v3' }, 'v3: v3 v3'],
	['v1 again where that has gone', { learnt: 'v3', v3: NOWHERE }, 'v3,v1: v1 v1'],
	['v3 again after that', { learnt: 'v1', v1: MOVED }, 'v1,v3: v3 v3'],
	['no other request has two', { kind: 'sound', learnt: 'v3', v1: MOVED }, 'v1: v1 v3'],
	['nothing more once the run is over', { v1: MOVED, isOver: true }, 'v1: v1 undefined'],
	['a v3 that is not there is not learnt', { v1: MOVED, v3: NOWHERE }, 'v1,v3: v3 undefined'],
	[
		'a refusal by v3 counts, and moves no other text',
		{ v1: MOVED, v3: refusal('no credits', 401) },
		'v1,v3: v3 undefined',
	],
	['an answer of v3 that never came counts', { v1: MOVED, v3: noAnswer() }, 'v1,v3: v3 undefined'],
	['a provider: v3 first', { voice: 'edge_a' }, 'v3: v3 undefined'],
	['v1 where there is no v3', { voice: 'edge_a', v3: NOWHERE }, 'v3,v1: v1 v1'],
	[
		'v3 decides where each refers to the other',
		{ voice: 'edge_a', v3: NOWHERE, v1: MOVED },
		'v3,v1: v3 undefined',
	],
	[
		'not v1 for another refusal by v3',
		{ voice: 'edge_a', v3: refusal('gone', 410) },
		'v3: v3 undefined',
	],
	['nor without its answer', { voice: 'edge_a', v3: noAnswer() }, 'v3: v3 undefined'],
	[
		'nor where that names a task',
		{ voice: 'edge_a', v3: answer(404, { task_id: 't1' }) },
		'v3: v3 undefined',
	],
])('%s', async (_, given, expected) => {
	expect((await sent(given)).summary).toBe(expected);
});

test.each([
	['edge_a', 'edge_a'],
	['edgea', 'elevenlabs_edgea'],
])('v3 gets a form, with a provider before the ID: %s', async (voice, voice_id) => {
	const { wires } = await sent({ voice, learnt: 'v3' });
	const body = { voice_id, output_format: 'wav', text: 'Hello' };
	expect(wires).toMatchObject([{ path: '/v3/text-to-speech', form: true, body }]);
	expect(wires[0]?.qs).toBeUndefined();
});

test.each<[object, object]>([
	[{ voice_settings: { speed: 1.1, style: 0 } }, { speed: 1.1, voice_settings: { style: 0 } }],
	[{ voice_settings: { speed: 1.1 } }, { speed: 1.1 }],
	[
		{ voice_settings: { speed: 1.1, style: 1 }, speed: 0.9 },
		{ speed: 0.9, voice_settings: { style: 1 } },
	],
	[{ voice_settings: 'x' }, { voice_settings: 'x' }],
])('v3 has the speed beside the settings of the voice: %j', async (more, fields) => {
	const [{ body } = {}] = (await sent({ learnt: 'v3', more })).wires;
	expect(body).toEqual({
		...{ voice_id: 'elevenlabs_a', output_format: 'wav', text: 'Hello' },
		...fields,
	});
});

test('v1 gets the ID of a voice of its own provider without that name, and its settings as they are', async () => {
	const more = { voice_settings: { speed: 1.1 } };
	const { wires } = await sent({ voice: 'elevenlabs_a', v3: NOWHERE, more });
	expect(wires[1]).toMatchObject({ path: '/v1/text-to-speech/a', body: more });
});
