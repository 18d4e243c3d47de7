/** Whether the files of items are those of their own tasks. */
import type { Item, NodeRun } from '../n8n/harness/execution';
import type { Evidence } from './evidence';
import { outputsOf } from './evidence';
import { saidOf } from '../support/said';
import type { Books, Download } from './judge';

const known = new Map<string, Buffer>();

async function fileAt(url: string): Promise<Buffer> {
	const found = known.get(url);
	if (found !== undefined) return found;
	const bytes = Buffer.from(await (await fetch(url)).arrayBuffer());
	known.set(url, bytes);
	return bytes;
}

const urlsIn = (value: unknown): string[] =>
	JSON.stringify(value).match(/http:\/\/[^"]+\/files\/[^"]+/g) ?? [];

/** With `binaryMode: combined` n8n keeps an item's files in its JSON, and lends those of the input to an item of the error output. */
function filesOf({ binary, json }: Item): NonNullable<Item['binary']> {
	const moved = json.error === undefined ? json._files : undefined;
	return binary ?? ((moved ?? {}) as NonNullable<Item['binary']>);
}

/** The faults of the service must be off. */
export async function wrongFiles(
	books: Books,
	{ service }: Evidence,
	run: NodeRun,
	download: Download,
): Promise<string[]> {
	const wrong: string[] = [];
	for (const item of outputsOf(run)) {
		const { end, taskIds } = saidOf(item);
		if (end !== 'done' && end !== 'failed') continue;
		const known = taskIds.filter((id) => books.byId.has(id));
		const urls = known.flatMap((id) => urlsIn(service.payload(id)));
		const own = await Promise.all(urls.map(async (url) => await fileAt(url)));
		for (const [field, entry] of Object.entries(filesOf(item))) {
			const bytes = await download(entry);
			if (!own.some((each) => each.equals(bytes)))
				wrong.push(`the file "${field}" is none of its task ${known.join(', ')}`);
		}
	}
	return wrong;
}
