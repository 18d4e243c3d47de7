/** What the delivery suites compare: files as the file host has them, and what lies in n8n's binary store. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { INodeExecutionData } from 'n8n-workflow';
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

/** The file as its host serves it. */
async function original(url: string): Promise<Buffer> {
	return Buffer.from(await (await fetch(url)).arrayBuffer());
}

async function bytesOf(item: INodeExecutionData | undefined, property = 'data'): Promise<Buffer> {
	const binary = item?.binary?.[property];
	if (binary === undefined) throw new Error(`The item has no file "${property}"`);
	return await readBinary(binary);
}

/** Every output of the item is there, whole, with the size it states. */
export async function expectWhole(item: INodeExecutionData | undefined): Promise<void> {
	const outputs = outputsOf(item);
	expect(outputs.length).toBeGreaterThan(0);
	for (const { url, binaryProperty, fileSize } of outputs) {
		const bytes = await bytesOf(item, binaryProperty);
		expect(sha(bytes)).toBe(sha(await original(url)));
		expect(fileSize).toBe(bytes.length);
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
