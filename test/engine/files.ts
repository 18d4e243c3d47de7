/** What the delivery suites compare: files as the file host has them, and what lies in n8n's binary store. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { IBinaryData, INodeExecutionData } from 'n8n-workflow';
import { readBinary } from './engine';

export interface Output {
	url: string;
	kind: string;
	binaryProperty?: string;
	fileName?: string;
	mimeType?: string;
	fileSize?: number;
}

export const outputsOf = (item: INodeExecutionData | undefined): Output[] =>
	(item?.json.outputs ?? []) as unknown as Output[];

const sha = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

/** Every output of the item is there, as its host serves it, with the size it states. */
export async function expectWhole(item: INodeExecutionData | undefined): Promise<void> {
	const outputs = outputsOf(item);
	expect(outputs.length).toBeGreaterThan(0);
	for (const { url, binaryProperty = '', fileSize } of outputs) {
		const bytes = await readBinary(item?.binary?.[binaryProperty] as IBinaryData);
		const original = Buffer.from(await (await fetch(url)).arrayBuffer());
		expect([sha(bytes), bytes.length]).toEqual([sha(original), fileSize]);
	}
}

/** All files of the binary store, with their sizes. */
export function stored(folder: string): string[] {
	if (!existsSync(folder)) return [];
	return readdirSync(folder, { recursive: true, encoding: 'utf8' })
		.filter((name) => statSync(join(folder, name)).isFile())
		.map((name) => `${name} ${statSync(join(folder, name)).size}`)
		.sort();
}
