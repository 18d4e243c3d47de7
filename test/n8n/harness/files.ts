import assert from 'node:assert/strict';
import type { Output } from '../../engine/files';
import type { TestContext } from './context';
import type { Item } from './execution';
import { fetch } from './http';

/** Downloads the files of an item from n8n; they must be what the service's file host gives out. */
export async function checkFiles(
	{ rest }: TestContext,
	item: Item,
	count: number,
): Promise<Output[]> {
	const outputs = item.json.outputs as Output[];
	assert.equal(outputs.length, count);
	assert.equal(Object.keys(item.binary ?? {}).length, count);
	for (const output of outputs) {
		const entry = item.binary?.[output.binaryProperty ?? ''];
		assert.ok(entry, `no binary data for ${JSON.stringify(output)}`);
		const stored = await rest.download(entry);
		const original = Buffer.from(await (await fetch(output.url)).arrayBuffer());
		assert.ok(stored.length > 0 && stored.equals(original), `${output.url} differs`);
		assert.equal(output.fileSize, stored.length);
	}
	return outputs;
}
