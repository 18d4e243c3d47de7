/** What a person in the editor is told of a run: hints, names of files, and what became of the other items. */
import {
	good,
	goOn,
	idOf,
	long,
	refused,
	runNode,
	sound,
	sounds,
	speech,
	taskWith,
	type Given,
} from './node';

test.each([
	[['', 'b', 'c'], [], /a value for it\.$/],
	[['', 'b', ''], [], / Other items: 1 failed\.$/],
	[['a'], [refused], /No task was created and nothing was paid\.$/],
	[
		['a', 'b'],
		[refused, good],
		/^Press Retry on .* Other items: 1 with a paid task, held back by this error\./,
	],
	[['a', 'b'], [refused, refused], / Other items: 1 failed\./],
	[
		['a', 'b', 'c', 'd'],
		[refused, good, good, refused],
		/ Other items: 2 with a paid task, held back by this error; 1 failed\. A new execution/,
	],
])('a run that fails says what became of the other items: %j', async (texts, creations, words) => {
	const { error } = await runNode({ parameters: sounds(...texts), creations });
	expect(error?.description).toMatch(words);
});

test('a failure begins with the free way, and says what a new execution would pay', async () => {
	const { error } = await runNode({
		parameters: sounds('a', 'b', 'c', 'd'),
		creations: [good, refused, good, good],
	});
	const ids = [0, 1, 2].map((index) => idOf(index)).join(', ');
	expect(error?.description).toMatch(
		new RegExp(
			`^Press Retry on this execution: it keeps what is paid\\. .* A new execution creates a new task for every item, also for those paid for, which "Task: Wait" can fetch: ${ids}\\. To output finished items next time, set 'On Error' to Continue, or turn on 'Retry On Fail'\\.$`,
		),
	);
});

test('a failure whose own task is the only one names it once', async () => {
	const { error } = await runNode({
		parameters: { ...sound, options: { timeout: 1 } },
		tasks: [taskWith({ seconds: 400 })],
	});
	expect(error?.description).toMatch(/"Task: Wait"/);
	expect(error?.description?.match(/Task: Wait/g)).toHaveLength(1);
	expect(error?.description).toMatch(/^Press Retry on this execution/);
	expect(error?.description).not.toMatch(/A new execution/);
});

test('a Stop has one line in the log', async () => {
	const { error, logs } = await runNode({
		parameters: sounds('a', 'b'),
		tasks: [taskWith({ seconds: 400 }), taskWith({ seconds: 400 })],
		events: [{ at: 5, kind: 'stop' }],
	});
	expect(error?.message).toMatch(/^The execution was stopped while task/);
	expect(logs.filter((line) => /Paid tasks/.test(line))).toEqual([
		`warn: Media Generation: the execution was stopped. Paid tasks of this run that you can still fetch with "Task: Wait", or end with "Task: Delete" while they run: ${idOf(0)}, ${idOf(1)}.`,
	]);
});

describe('a manual run', () => {
	const run = async (parameters: object | object[], given: Partial<Given> = {}) =>
		await runNode({ isManual: true, parameters, ...given });
	const named = /paid for in an earlier test run/;

	test('names the tasks that an earlier one has paid for, and creates all the same', async () => {
		const first = await run(sounds('a', 'b', 'c'));
		expect(first.hints.join()).not.toMatch(named);
		const second = await run(sounds('a', 'b', 'changed'), { like: first });
		expect(second.bodies).toHaveLength(3);
		expect(second.hints[0]).toBe(
			`2 tasks were paid for in an earlier test run: execute only the step after this one, or fetch them with "Task: Wait": ${idOf(0)}, ${idOf(1)}`,
		);
		expect(second.logs.join()).toMatch(named);
	});

	test('names ten of them, and the log all', async () => {
		const texts = Array.from({ length: 11 }, (_, number) => `text ${number}`);
		const parameters = sounds(...texts);
		const { hints, logs } = await run(parameters, { like: await run(parameters) });
		const ids = texts.map((_, number) => idOf(number));
		expect(hints[0]).toBe(
			`11 tasks were paid for in an earlier test run: execute only the step after this one, or fetch them with "Task: Wait": ${ids.slice(0, 10).join(', ')}, ...`,
		);
		expect(logs.join()).toContain(ids.join(', '));
	});

	test('remembers them for an hour', async () => {
		const second = await run(sound, { like: await run(sound), minutesLater: 61 });
		expect(second.hints.join()).not.toMatch(named);
		const third = await run(sound, { like: second, minutesLater: 61 + 59 });
		expect(third.hints[0]).toMatch(/^1 task was paid for in an earlier test run/);
	});

	test('says nothing of tasks that failed, and no other mode does', async () => {
		const failed = await run(sound, { tasks: [taskWith({ end: 'error' })], node: goOn });
		expect((await run(sound, { like: failed })).hints.join()).not.toMatch(named);
		const like = await run(sound);
		expect((await run(sound, { like, isManual: false })).hints.join()).not.toMatch(named);
		expect((await run(sound, { like })).hints.join()).toMatch(named);
	});
});

test('100 parts of texts or more are hinted at, once they are asked for', async () => {
	const text = 'A sentence that is long enough to be a part of its own.\n\n'.repeat(100);
	const parameters = { ...long('join'), text, options: { maxCharacters: 60 } };
	const { hints, bodies, logs } = await runNode({ parameters });
	expect(bodies).toHaveLength(100);
	const words = "100 tasks for 1 text: a larger 'Max Characters per Part' makes fewer";
	expect(hints).toContain(words);
	expect(logs[0]).toContain(words);
	const few = await runNode({ parameters: { ...parameters, options: { maxCharacters: 120 } } });
	expect(few.hints.join()).not.toMatch(/makes fewer/);
});

test('failed items of an error branch are looked for at the branch', async () => {
	const node = { onError: 'continueErrorOutput' } as const;
	const { hints } = await runNode({ parameters: sounds('', 'b'), node });
	expect(hints[0]).toBe('1 of 2 items failed and went to the error branch');
});

test('a refusal names a field of the request as the editor shows it', async () => {
	const { error } = await runNode({
		parameters: { resource: 'image', operation: 'generate', prompt: 'A', generationsCount: 1 },
		answer: ({ method }) =>
			method === 'POST' ? { status: 400, body: { error: 'model_id is required' } } : undefined,
	});
	expect(error?.message).toMatch(/model_id is required/);
	expect(error?.description).toMatch(/"model_id" is the field 'Model' of this node\.$/);
});

test('a text of more than 5,000 characters that is not split is hinted at', async () => {
	const text = 'word '.repeat(1_001);
	const hint = "1 text has more than 5000 characters: 'Long Text' splits and joins such texts";
	const off = await runNode({ parameters: { ...speech, text } });
	expect(off.hints).toContain(hint);
	const split = await runNode({ parameters: { ...long('join'), text } });
	expect(split.hints.join()).not.toMatch(/more than 5000/);
	const effect = await runNode({ parameters: { ...sound, text } });
	expect(effect.hints.join()).not.toMatch(/more than 5000/);
});

test('equal names of files are hinted at, whatever their case', async () => {
	const hintsOf = async (...fileNames: string[]) => {
		const parameters = fileNames.map((fileName) => ({ ...sound, options: { fileName } }));
		return (await runNode({ parameters })).hints.filter((hint) => /named/.test(hint));
	};
	expect(await hintsOf('Rain', 'rain.mp3', 'snow')).toEqual([
		'2 files are named "rain.wav": put something unique to each item into \'File Name\'',
	]);
	expect(await hintsOf('rain', 'rains')).toEqual([]);
	expect(await hintsOf('', '')).toEqual([]);
});

test('the hint of the costs is there before the execution sleeps', async () => {
	const parameters = { ...sound, waitMode: 'callback', options: { gracePeriod: 0 } };
	const { hints } = await runNode({ parameters, tasks: [] });
	expect(hints).toContain('1 task created, 10 credits according to the service');
});

test.each([
	[4, undefined, 'The service made 2 of 4 images'],
	[4, { models: [{ model_id: 'n' }, { model_id: 'm', max_generations: '2' }] }, 'most'],
	[4, { models: [{ model_id: 'n', max_generations: 2 }] }, 'The service made 2 of 4 images'],
	[2, undefined, undefined],
])('fewer images than were asked for: %d, %j', async (generationsCount, models, hint) => {
	const result_images = [
		{ imageUrl: 'https://files.example/1.png' },
		null,
		'https://files.example/2.png',
	];
	const done = { id: 't1', status: 'done', type: 'imagen2', metadata: { result_images } };
	const image = { resource: 'image', operation: 'generate', prompt: 'A boat', modelId: 'm' };
	const { hints, requests } = await runNode({
		parameters: { ...image, generationsCount, downloadOutput: false },
		answer({ method, url }) {
			if (url.endsWith('/v1i/models')) return models ? { body: models } : { status: 404, body: {} };
			return { body: method === 'POST' ? { task_id: 't1' } : done };
		},
	});
	const limit = 'The service made 2 of 4 images: the model makes at most 2 per task';
	const said = hint === 'most' ? limit : hint;
	expect(hints.filter((each) => / images/.test(each))).toEqual(said === undefined ? [] : [said]);
	// Nothing is asked that nobody needs.
	const asked = requests.filter((each) => each.includes('/v1i/models'));
	expect(asked).toHaveLength(hint === undefined ? 0 : 1);
});

describe('a recording', () => {
	const LARGE = 'a.mp3 has 20.1 MB: services usually take at most 20 MB here';
	const SECOND = 'A dubbing was made, but its second voice failed at the service';
	const failed = { replacement_status: 'failed' };
	test.each<[string, number, object, string[]]>([
		['dub', 20_000_000, {}, []],
		['dub', 20_100_000, {}, [LARGE]],
		['transcribe', 20_100_000, {}, []],
		['dub', 1, { replacement_status: 'done' }, []],
		['dub', 1, failed, [SECOND]],
	])('%s: of %d bytes, and %j, is hinted at', async (operation, size, metadata, expected) => {
		const data = Buffer.alloc(size).toString('base64');
		const ran = await runNode({
			parameters: {
				...{ resource: 'audio', operation, inputBinaryField: 'data' },
				...{ targetLanguage: 'de', downloadOutput: false },
			},
			input: [{ json: {}, binary: { data: { data, mimeType: 'audio/mpeg', fileName: 'a.mp3' } } }],
			answer: ({ method, url }) => {
				if (method === 'POST') return { body: { success: true, task_id: 't' } };
				if (!url.includes('/v1/task/')) return undefined;
				const audio_url = 'https://files.example/a.mp3';
				return { body: { id: 't', status: 'done', metadata: { audio_url, ...metadata } } };
			},
		});
		expect(ran.error).toBeUndefined();
		expect(ran.hints).toEqual([...expected, '1 task created; its cost is not known yet']);
	});
});
