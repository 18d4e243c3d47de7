/**
 * Messages that no other test provokes: each says what happened, and its description what to do next. What somebody reads is part
 * of what is promised.
 */
import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { asDownloadError } from '../../nodes/MediaGeneration/delivery/downloadError';
import { readStoredText } from '../../nodes/MediaGeneration/delivery/binary';
import { assemble } from '../../nodes/MediaGeneration/delivery/assembly';
import type { Delivered, Delivery } from '../../nodes/MediaGeneration/delivery/item';
import type { FileSettings } from '../../nodes/MediaGeneration/operations/waiting';
import { MediaGenerationApi } from '../../credentials/MediaGenerationApi.credentials';
import { parseTask } from '../../nodes/MediaGeneration/service/task';
import { FILE, host, partial, rangeStart } from './scriptedHost';
import { readCreation } from '../../nodes/MediaGeneration/create/creation';
import { PollLoop } from '../../nodes/MediaGeneration/wait/poll';
import { answer } from './replies';
import { VirtualClock } from './virtualClock';

function task(body: IDataObject) {
	const parsed = parseTask(body);
	if (parsed === undefined) throw new Error('no task');
	return parsed;
}

test.each([
	[402, 'The account seems to be out of credits. Add credits at the service.'],
	[413, 'The input is too large for the service. Shorten it.'],
	[422, 'Correct the fields that the message names.'],
])('a creation that is refused with %d says what to do', (status, advice) => {
	const creation = readCreation(answer(status, { error: 'no' }), 0);
	if (creation.kind !== 'failed') throw new Error(creation.kind);
	expect(creation.failure.message).toBe(`The service refused the task (HTTP ${status}: no)`);
	expect(creation.failure.description).toBe(`${advice} No task was created and nothing was paid.`);
});

test('a refusal that names a task somewhere in its depth', () => {
	const body: IDataObject = { error: 'slow', tasks: [{ task_id: 't' }] };
	const creation = readCreation(answer(409, body), 0);
	expect(creation).toMatchObject({
		failure: {
			outcome: 'unknown',
			message:
				'The service refused the request (HTTP 409: slow) but named a task (see its answer); it may exist',
		},
	});
});

test('what is thrown and is no error is a download that failed', () => {
	expect(asDownloadError('gone')).toMatchObject({ message: 'the download failed', next: 'again' });
});

test('parts of which one has no sound are handed out as they are, and a hint says why', async () => {
	const part = (kind: 'audio' | 'file'): Delivered => ({
		items: [{ json: {}, binary: { data: { data: '', mimeType: 'x/y' } } }],
		outputs: [{ kind, binaryProperty: 'data' }],
		failure: undefined,
	});
	const finished = { taskId: 't', task: task({ status: 'done' }), outputs: [] };
	const parts = [part('audio'), part('file')].map((delivered) => ({ finished, delivered }));
	const files = { binaryPropertyName: 'data' } as FileSettings;
	const longText = { kind: 'join', maxCharacters: 50, pauseMs: 0 } as const;
	const { items } = await assemble(
		{} as IExecuteFunctions,
		{ delivery: {} as Delivery, parts },
		{ assembly: { longText, texts: ['One', 'Two'] }, files, index: 0 },
	);
	expect(items[0]?.json).toMatchObject({
		joined: false,
		hint: 'The parts could not be joined: not every part has an audio file',
	});
	expect(Object.keys(items[0]?.binary ?? {})).toEqual(['data', 'data_1']);
});

test('the test of the credential tells a limit from a wrong key', () => {
	const { rules } = new MediaGenerationApi().test;
	const byStatus = (rules ?? []).flatMap(({ type, properties }) =>
		type === 'responseCode' ? [properties] : [],
	);
	expect(byStatus.find(({ value }) => value === 429)?.message).toBe(
		'The service takes no requests with this key at the moment: its daily limit may be reached. Try again later',
	);
	expect(byStatus.find(({ value }) => value === 401)?.message).toMatch(
		/does not accept this API key/,
	);
});

describe('files', () => {
	const asked = (serve: Parameters<typeof host>[0]) => host(serve).run();

	test('a host that stops in the middle, each time', async () => {
		await expect(asked(() => ({ stallAfter: 10_000 }))).rejects.toThrow(
			'the file host stopped sending',
		);
	});

	test('a host that goes on at another place, and then has nothing more', async () => {
		const wrong = (headers: Record<string, string>, count: number) =>
			count === 1 ? { breakAfter: 100_000 } : partial(rangeStart(headers) + 5, { breakAfter: 0 });
		const messages: string[] = [];
		await asked((headers, count) => {
			if (count > 2) return { ok: false, reason: 'enough', transient: false };
			return wrong(headers, count);
		}).catch((error: Error) => messages.push(error.message));
		expect(messages).toEqual(['enough']);
	});

	test('a host that sends more than it spoke of', async () => {
		const longer = (start: number) => ({
			status: 206,
			body: FILE.subarray(start, 250_000),
			headers: { 'content-range': `bytes ${start}-199999/200000`, 'content-length': '' },
		});
		await expect(
			asked((headers) =>
				headers.Range === undefined
					? { breakAfter: 100_000, headers: { 'content-length': '' } }
					: longer(rangeStart(headers)),
			),
		).rejects.toThrow('the file is longer than the 200000 bytes that its host stated');
	});
});

test('a transcript that is too long for one is not read to its end', async () => {
	const stored = { data: Buffer.alloc(30).toString('base64'), mimeType: 'text/plain' };
	await expect(readStoredText({} as IExecuteFunctions, stored, 20)).rejects.toThrow(
		'it is longer than 20 bytes',
	);
});

test('a look that breaks says so when the time is over', async () => {
	const clock = new VirtualClock();
	// None of our errors, and none at all.
	const broken = 'broken' as unknown as Error;
	const loop = new PollLoop({
		look: async () => await Promise.reject(broken),
		now: clock.now,
		sleep: clock.sleep,
		random: () => 0.5,
		pausedUntil: () => 0,
	});
	const createdAt = clock.now();
	const waited = await clock.run(
		loop.wait({ taskId: 't', kind: 'x', createdAt, deadline: createdAt + 10_000 }),
	);
	expect(waited).toMatchObject({
		kind: 'failed',
		failure: { outcome: 'timed_out', description: /The last look at it failed: the look failed/ },
	});
});
