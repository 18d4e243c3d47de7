/** Split Files with a missing file keeps all the others, and no output names a file that is not there. */
import type { INodeExecutionData } from 'n8n-workflow';
import { bytesOf, original, outputsOf, sha } from './files';
import { engineSetting } from './setting';

const setting = engineSetting();
const image = {
	resource: 'image',
	operation: 'generate',
	prompt: 'A lighthouse',
	modelId: 'painter',
	generationsCount: 3,
};

/** Makes the n-th of the three pictures unavailable. */
function missing(...pictures: number[]) {
	for (const picture of pictures) {
		setting.service.faults.add({
			route: 'file',
			path: urlOf(picture),
			action: { type: 'status', status: 404 },
		});
	}
}

/** As the stand-in names its pictures. */
const urlOf = (picture: number) => `/image-${picture}.png`;

/** The files of these items, each under the name that its item's outputs give it. */
async function filesOf(items: INodeExecutionData[]): Promise<string[]> {
	const files: string[] = [];
	for (const item of items) {
		const named = outputsOf(item).flatMap(({ binaryProperty }) => binaryProperty ?? []);
		expect(named.sort()).toEqual(Object.keys(item.binary ?? {}).sort());
		for (const property of named) files.push(sha(await bytesOf(item, property)));
	}
	return files;
}

const onErrors = ['continueRegularOutput', 'continueErrorOutput'] as const;
const cases = onErrors.flatMap((onError) =>
	[[1], [2], [3], [1, 3]].map((gone): [string, number[]] => [onError, gone]),
);

test.each(cases)('On Error: %s, without picture %j', async (onError, gone) => {
	missing(...gone);
	const { output, errorOutput } = await setting.run({
		parameters: { ...image, options: { splitFiles: true } },
		settings: { onError: onError as (typeof onErrors)[number] },
	});
	const all = [...output, ...errorOutput];
	const taskId = setting.service.creations()[0]?.id ?? '';
	setting.service.faults.clear();
	const there = [1, 2, 3].filter((picture) => !gone.includes(picture));
	const { fileUrl } = setting.service;
	const expected = await Promise.all(
		there.map(async (picture) =>
			sha(await original(`${fileUrl}/files/${taskId}${urlOf(picture)}`)),
		),
	);
	expect((await filesOf(all)).sort()).toEqual(expected.sort());
	// What is missing is said, by one item that still has its address.
	const failed = all.filter(({ json }) => json.outcome !== undefined);
	expect(failed).toHaveLength(1);
	expect(failed[0]?.json).toMatchObject({ outcome: 'undelivered', task_id: taskId });
	const addresses = outputsOf(failed[0]).map(({ url }) => url);
	for (const picture of gone)
		expect(addresses).toContain(`${fileUrl}/files/${taskId}${urlOf(picture)}`);
	if (onError === 'continueErrorOutput') expect(errorOutput).toEqual(failed);
	for (const { pairedItem } of all)
		expect(pairedItem).toMatchObject({ item: expect.anything() as number });
	expect(setting.attempts()).toBe(1);
});

test('together with Retry On Fail: the next try has all three', async () => {
	setting.service.faults.add({
		route: 'file',
		path: urlOf(1),
		times: 1,
		action: { type: 'status', status: 404 },
	});
	const { output, error } = await setting.run({
		parameters: { ...image, options: { splitFiles: true } },
		settings: { retryOnFail: true, maxTries: 2, waitBetweenTries: 1 },
	});
	expect(error).toBeUndefined();
	expect(await filesOf(output)).toHaveLength(3);
	expect(setting.attempts()).toBe(1);
});

test('one item for each task: no output names a file that is not there', async () => {
	missing(2);
	const { output } = await setting.run({
		parameters: image,
		settings: { onError: 'continueRegularOutput' },
	});
	expect(output).toHaveLength(1);
	expect(output[0]?.json.outcome).toBe('undelivered');
	expect(await filesOf(output)).toHaveLength(2);
});
