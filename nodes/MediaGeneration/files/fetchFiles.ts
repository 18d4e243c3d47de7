/** Fetches the files of a finished task, all at once, but only a few from each host. */
import { getOrCreate } from '../base/boundedMap';
import { ABORTED } from '../base/abort';
import { Limiter } from '../base/limiter';
import type { TaskOutput } from '../answers/outputs';
import { storeFile, type DownloadDeps } from './download';
import { MAX_FILES } from '../base/bounds';
import { numberNames } from './fileNames';
import type { OutputFile, WantedFile } from './outputFile';

export interface FetchDeps extends DownloadDeps {
	/** Those of each host, for the whole run. */
	slots: Map<string, Limiter>;
}

/** A host that sends slowly would keep its slots for days. */
const SLOT_MS = 60_000;

async function fetchInTurn(wanted: WantedFile, deps: FetchDeps): Promise<OutputFile> {
	const [host = ''] = /^https?:\/\/[^/?#]*/i.exec(wanted.url) ?? [];
	const giveBack = await getOrCreate(deps.slots, host, () => new Limiter(4)).take();
	const over = new AbortController();
	void deps.sleep(SLOT_MS, over.signal).then(giveBack);
	return await storeFile(wanted, deps).finally(() => over.abort(ABORTED));
}

/** Downloads the files of one task, which share a base name. Never rejects. */
export async function fetchFiles(
	outputs: readonly TaskOutput[],
	wanted: Omit<WantedFile, keyof TaskOutput>,
	deps: FetchDeps,
): Promise<OutputFile[]> {
	const problem = `only the first ${MAX_FILES} files of a task are fetched`;
	const files = await Promise.all(
		outputs.map(async (output, index) =>
			index < MAX_FILES ? await fetchInTurn({ ...output, ...wanted }, deps) : { output, problem },
		),
	);
	numberNames(files, wanted.baseName);
	return files;
}
