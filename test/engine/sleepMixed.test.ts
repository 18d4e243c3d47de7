/** Items of one run whose wait modes differ: what polls is waited for first, what sleeps is let go. */
import { outputsOf } from './files';
import { awake, ends, given, sleepSetting } from './asleep';

const { setting, sleeping, start } = sleepSetting();
const STEERED = '={{ { stand_in: $json.stand_in ?? { never_ends: true } } }}';

const image = {
	resource: 'image',
	operation: 'generate',
	prompt: '={{ $json.prompt }}',
	modelId: 'painter',
	generationsCount: 3,
	waitMode: '={{ $json.mode }}',
	options: {
		gracePeriod: 0,
		extraFields: STEERED,
		splitFiles: '={{ $json.split ?? false }}',
	},
};
const taskOf = (prompt: string) => {
	const [task] = setting.service.creations(({ body }) => body.prompt === prompt);
	if (task === undefined) throw new Error(`There is no task for "${prompt}"`);
	return task.id;
};
const polling = (prompt: string, more: object = {}) => ({
	prompt,
	mode: 'poll',
	stand_in: { ms: 2_500 },
	...more,
});
const asleep = (prompt: string) => ({ prompt, mode: 'callback' });

test.each([
	['first', [polling('polls'), asleep('sleeps')]],
	['last', [asleep('sleeps'), polling('polls')]],
])('an item that polls comes %s: it is done before the other one sleeps', async (_, items) => {
	const { service } = setting;
	const execution = await sleeping({ items, parameters: image });
	// It was waited for, and its files fetched.
	expect(service.task(taskOf('polls')).status).toBe('done');
	expect(
		service.requests.filter(({ route, url }) => route === 'file' && url.includes(taskOf('polls'))),
	).toHaveLength(3);
	// Only what sleeps is called back.
	expect(service.task(taskOf('polls')).receiveUrl).toBeNull();
	expect(service.task(taskOf('sleeps')).receiveUrl).toBe(execution.resumeUrl());
	await service.finish(taskOf('sleeps'));
	await awake(execution);
	const after = await given(execution, 'After');
	expect(after.map(({ json }) => json.task_id)).toEqual(items.map(({ prompt }) => taskOf(prompt)));
	expect(ends(after)).toEqual(['done', 'done']);
	for (const item of after) expect(Object.keys(item.binary ?? {})).toHaveLength(3);
	expect(service.callbacks).toHaveLength(1);
});

test('an item that polls and is not over by its own Timeout fails the run, or goes on as an item', async () => {
	const { service } = setting;
	const items = [polling('polls', { stand_in: { never_ends: true } }), asleep('sleeps')];
	const parameters = {
		...image,
		options: { ...image.options, timeout: '={{ $json.mode === "poll" ? 2 : 600 }}' },
	};
	const stopped = await start({ items, parameters });
	const { error } = await stopped.settled();
	expect(stopped.status).toBe('error');
	expect(error?.message).toContain(taskOf('polls'));
	expect(error?.description).toContain(taskOf('sleeps'));
	setting.service.reset();
	const execution = await sleeping({
		items,
		parameters,
		settings: { onError: 'continueRegularOutput' },
	});
	await service.finish(taskOf('sleeps'));
	await awake(execution);
	expect(ends(await given(execution, 'After'))).toEqual(['timed_out', 'done']);
});

test('Split Files of an item that polls stays split', async () => {
	const { service } = setting;
	const items = [polling('polls', { split: true }), asleep('sleeps')];
	const execution = await sleeping({ items, parameters: image });
	await service.finish(taskOf('sleeps'));
	await awake(execution);
	const after = await given(execution, 'After');
	const of = (prompt: string) => after.filter(({ json }) => json.task_id === taskOf(prompt));
	expect(of('polls').map((item) => outputsOf(item).length)).toEqual([1, 1, 1]);
	for (const item of of('polls')) expect(Object.keys(item.binary ?? {})).toEqual(['data']);
	expect(of('sleeps')).toHaveLength(1);
	expect(Object.keys(of('sleeps')[0]?.binary ?? {})).toHaveLength(3);
});

test('an item that is not waited for is not kept back by one that sleeps', async () => {
	const { service } = setting;
	const execution = await sleeping({
		items: [
			{ ...asleep('not waited for'), wait: false },
			{ ...asleep('sleeps'), wait: true },
		],
		parameters: { ...image, waitForCompletion: '={{ $json.wait }}' },
	});
	expect(service.task(taskOf('not waited for')).receiveUrl).toBeNull();
	await service.finish(taskOf('sleeps'));
	await awake(execution);
	const after = await given(execution, 'After');
	expect(after.map(({ json }) => json.task_id)).toEqual([
		taskOf('not waited for'),
		taskOf('sleeps'),
	]);
	expect(after[0]?.json.status).toBeUndefined();
	expect(after[1]?.json.status).toBe('done');
});
