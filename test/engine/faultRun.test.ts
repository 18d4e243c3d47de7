/**
 * 200 items against a service that does everything wrong at once. What must hold whatever happens: one creation for each item,
 * or none where each try was refused for the whole Timeout, and every item delivered or named, in time.
 */
import type { FaultAction, FaultRule } from '../service';
import { engineSetting, goOn, sound, steered } from './setting';
import { until } from './hurry';

const setting = engineSetting();

const ITEMS = 200;
const MAX_ACTIVE = 120;
const TIMEOUT_S = 15;
/** Twice, as not all tasks are active at once: trying to create, one slow answer, waiting for the task; and 2 s beside it. */
const IN_TIME_MS = (2 * (TIMEOUT_S + 3 + TIMEOUT_S) + 2) * 1_000;

const BUSY = { success: false, code: 'server_busy' };
const PAGE = '<html><body>Please wait</body></html>';
const PAST = new Date('2020-01-01').toUTCString();
const FAR = new Date('2099-01-01').toUTCString();
const RETRY_AFTER = [undefined, '0', PAST, '1', 'soon', '-1'];

const status = (code: number, body: unknown, retryAfter?: string): FaultAction => ({
	type: 'status',
	status: code,
	body,
	...(retryAfter === undefined ? {} : { headers: { 'retry-after': retryAfter } }),
});

/** About how many of a hundred requests. The rules are asked one after the other. */
const often = (percent: number, action: FaultAction): FaultRule => ({
	probability: percent / 100,
	action,
});

const looks: FaultRule[] = [
	...RETRY_AFTER.map((retryAfter) => often(6, status(503, BUSY, retryAfter))),
	often(2, status(429, BUSY, '1')),
	often(5, { type: 'reset' }),
	often(3, status(401, PAGE)),
	often(2, status(403, { success: false, error: 'Forbidden' })),
	often(3, status(200, { status: 'error', message: 'Too many requests' })),
	often(2, status(404, { success: false, error: 'not found' })),
	often(2, { type: 'emptyBody' }),
	often(2, { type: 'html' }),
	often(4, { type: 'drip', ms: 700 }),
	{ ...often(1, { type: 'drip' }), times: 4 },
	{ ...often(1, { type: 'stall' }), times: 2 },
];
const clear: FaultRule[] = [
	...RETRY_AFTER.map((retryAfter) =>
		often(3, status(429, { success: false, message: 'Too many requests' }, retryAfter)),
	),
	often(3, status(503, BUSY, '1')),
	often(3, status(200, { ...BUSY, message: 'busy' })),
	often(4, { type: 'drip', ms: 3_000 }),
	often(3, { type: 'processThenStall', ms: 3_000 }),
];
const unclear: FaultRule[] = [
	often(3, { type: 'processThenReset' }),
	often(2, { type: 'processThenStatus', status: 502, body: PAGE }),
];
const files: FaultRule[] = [often(8, { type: 'reset' }), often(8, status(503, PAGE, '0'))];

const items = Array.from({ length: ITEMS }, (_, index) => ({
	text: `Sound ${index}`,
	stand_in: { ms: 300 + ((index * 37) % 60) * 100 },
}));
const textOf = (taskId: unknown) => setting.service.task(String(taskId)).body.text;

test('one creation each, and every item delivered or named', async () => {
	const { service } = setting;
	const unclearOnes = unclear.map((rule) => service.faults.add({ ...rule, route: 'create' }));
	for (const rule of clear) service.faults.add({ ...rule, route: 'create' });
	for (const rule of looks) service.faults.add({ ...rule, route: 'poll' });
	for (const rule of files) service.faults.add({ ...rule, route: 'file' });
	const running = setting.runWithin(IN_TIME_MS, {
		items,
		parameters: {
			...sound(),
			options: { ...steered, timeout: TIMEOUT_S, maxActiveTasks: MAX_ACTIVE },
		},
		settings: goOn,
		credentials: setting.ownAccount(),
	});
	let over = false;
	running.finally(() => (over = true)).catch(() => undefined);
	// When all are made and most are over, one look is asked to come back in the next century.
	await until(
		'all were made, and most were seen at their end, or the run is over',
		() =>
			over ||
			(service.tasks.length === ITEMS &&
				service.tasks.filter(({ doneLooks }) => doneLooks > 0).length > ITEMS * 0.8),
		IN_TIME_MS,
	);
	service.faults.clear();
	service.faults.add({ route: 'poll', times: 1, action: status(503, BUSY, FAR) });
	const { output } = await running;

	expect(output.map(({ pairedItem }) => pairedItem)).toEqual(items.map((_, item) => ({ item })));
	const of = (...wanted: unknown[]) =>
		output.flatMap(({ json }, index) => (wanted.includes(json.outcome) ? [{ json, index }] : []));
	const delivered = of(undefined);
	const late = of('timed_out', 'undelivered');
	const unknown = of('unknown');
	const refused = of('rejected');
	const known = new Set([...delivered, ...late, ...unknown, ...refused].map(({ index }) => index));
	expect(output.filter((_, index) => !known.has(index)).map(({ json }) => json)).toEqual([]);
	const refusedOnes = new Set(refused.map(({ index }) => index));
	const made = service.creations().map(({ body }) => body.text);
	expect(made.sort()).toEqual(
		items.flatMap(({ text }, index) => (refusedOnes.has(index) ? [] : [text])).sort(),
	);
	for (const { json, index } of [...delivered, ...late])
		expect(textOf(json.task_id)).toBe(items[index]?.text);
	for (const { json, index } of delivered) {
		expect(json.status).toBe('done');
		expect(output[index]?.binary?.data).toBeDefined();
	}
	// Nothing else is unclear but what was made so.
	expect(unknown).toHaveLength(unclearOnes.reduce((sum, { hits = 0 }) => sum + hits, 0));
	expect(delivered.length).toBeGreaterThan(ITEMS / 2);

	// What is late is fetched by Task: Wait, and nothing is paid again.
	if (late.length === 0) return;
	service.faults.clear();
	const waited = await setting.runWithin(IN_TIME_MS, {
		items: late.map(({ json }) => ({ task_id: json.task_id })),
		parameters: { resource: 'task', operation: 'wait' },
		credentials: setting.ownAccount(),
	});
	expect(waited.output.map(({ json }) => json.status)).toEqual(late.map(() => 'done'));
	expect(service.creations()).toHaveLength(ITEMS - refused.length);
}, 120_000);
