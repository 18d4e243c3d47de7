/**
 * What the user sees: the item or items of a finished task, the same for generations, `task: wait`, resumed executions
 * and the trigger (README, "Operations").
 */
import type { IBinaryKeyData, IDataObject, INodeExecutionData } from 'n8n-workflow';
import { transcriptOf } from '../media/captions';
import type { SoundFacts } from '../media/sound';
import type { FileSettings } from '../operations/waiting';
import type { N8nContext } from '../service/client';
import { inPieces, pause } from '../service/clock';
import { attemptLater, broken, quote, type Failure } from '../service/failures';
import { MAX_TRANSCRIPT_BYTES, readStoredText } from './binary';
import { fileOpener } from '../service/fileHost';
import type { JsonObject } from '../service/json';
import { Limiter } from '../service/limiter';
import type { Done } from '../service/verdict';
import {
	baseNames,
	fetchFiles,
	type DeliveredFile,
	type DeliveredOutput,
	type FetchDeps,
} from './files';

/** Names that n8n or this package give a meaning. A task's own fields of these names go out with `task_` in front. */
const OWN_NAMES = ['error', 'outcome', 'timed_out', 'task_ids', 'part', 'parts', 'joined'];

function saysNothing(error: unknown): boolean {
	if (typeof error === 'string') return error.trim() === '';
	if (typeof error === 'object') return error === null || Object.keys(error).length === 0;
	return error === undefined || error === false || error === 0;
}

/** Without an `error` that says nothing: n8n repeats a node whose first item has one, unless it is undefined, null or false. */
export function withoutEmptyError(fields: JsonObject): IDataObject {
	const { error, ...others } = fields;
	return (saysNothing(error) ? others : fields) as IDataObject;
}

/** What goes out of a task, or of the answer to a creation, under names that mean nothing else. */
export function fieldsOf(raw: JsonObject): IDataObject {
	const entries = Object.entries(withoutEmptyError(raw));
	return Object.fromEntries(
		entries.map(([name, value]) => [OWN_NAMES.includes(name) ? `task_${name}` : name, value]),
	);
}

export interface Delivered {
	/** One item; with Split Files one for each file that is there, and none where none is. */
	items: INodeExecutionData[];
	/** All files, including missing ones. Names the binary fields of `items[0]`; with Split Files it names none. */
	outputs: DeliveredOutput[];
	/** Outcome `undelivered`, where a file is missing. */
	failure: Failure | undefined;
	/** What was found of the sounds among `outputs` on their way, at the same places. */
	sounds?: ReadonlyArray<SoundFacts | undefined>;
}

export interface DeliveryOptions {
	/** Base URL of the service: only where it is private are files fetched from private addresses. */
	baseUrl: string | undefined;
	/** Ends all downloads. */
	signal?: AbortSignal | undefined;
}

/** A task to show, with its files. */
type Shown = Omit<Done, 'kind'>;

/** How many files are downloaded at the same time by one run. */
const CONCURRENT_DOWNLOADS = 4;
/** How many addresses of missing files a message names. */
const NAMED_ADDRESSES = 20;

function undelivered({ taskId, task }: Shown, files: DeliveredFile[]): Failure | undefined {
	const missing = files.filter(({ problem }) => problem !== undefined);
	const [first] = missing;
	if (first === undefined) return undefined;
	const which = files.length === 1 ? 'its file' : `${missing.length} of its ${files.length} files`;
	const named = missing.slice(0, NAMED_ADDRESSES).map(({ output }) => output.url);
	const others = missing.length - named.length;
	const more = others === 0 ? '' : ` and ${others} more, which the field "outputs" has`;
	return {
		outcome: 'undelivered',
		message: `Task ${taskId} is done, but ${which} could not be downloaded: ${quote(first.problem) ?? 'unknown reason'}`,
		description: `The task is paid for. Use "Task: Wait" with this task ID to fetch the files again, or open the addresses: ${named.join(' ')}${more}`,
		taskId,
		status: task.status,
	};
}

/** Gives each file that is there the binary field that it goes into. */
function withProperties(
	files: DeliveredFile[],
	nameOf: (index: number) => string,
): DeliveredFile[] {
	return files.map((file, index) =>
		file.binary === undefined
			? file
			: { ...file, output: { ...file.output, binaryProperty: nameOf(index) } },
	);
}

function binaryOf(files: DeliveredFile[]): { binary?: IBinaryKeyData } {
	const binary: IBinaryKeyData = {};
	for (const { binary: data, output } of files) {
		if (data !== undefined && output.binaryProperty !== undefined)
			binary[output.binaryProperty] = data;
	}
	return Object.keys(binary).length === 0 ? {} : { binary };
}

/** Delivers the finished tasks of one run; its downloads share a limited number of slots. */
export class Delivery {
	private readonly deps: FetchDeps;

	constructor(context: N8nContext, { baseUrl, signal }: DeliveryOptions) {
		this.deps = {
			context,
			open: fileOpener({ context, baseUrl, sleep: pause }),
			now: Date.now,
			sleep: pause,
			signal,
			limiter: new Limiter(CONCURRENT_DOWNLOADS),
		};
	}

	/**
	 * Downloads the files of a finished task where wanted and builds its items. Never rejects: where anything breaks, what the
	 * service offers goes out with a failure.
	 *
	 * @param pairedItem index of the input item
	 * @param extra further fields of the JSON, e.g. `verified`
	 */
	async deliver(
		done: Shown,
		settings: FileSettings,
		pairedItem: number,
		extra: IDataObject = {},
	): Promise<Delivered> {
		try {
			return await this.make(done, settings, { pairedItem, extra });
		} catch (error) {
			return {
				items: [],
				outputs: done.outputs.map(({ url, kind }) => ({ url, kind })),
				failure: broken(error, { kind: 'done', taskId: done.taskId }),
			};
		}
	}

	private async make(
		done: Shown,
		settings: FileSettings,
		{ pairedItem, extra }: { pairedItem: number; extra: IDataObject },
	): Promise<Delivered> {
		const { taskId, task } = done;
		const files = await this.files(done, settings);
		const item = (shown: DeliveredFile[]): INodeExecutionData => ({
			json: {
				...(task.state === 'failed' ? withoutEmptyError(task.raw) : fieldsOf(task.raw)),
				task_id: taskId,
				outputs: shown.map(({ output }) => ({ ...output })),
				...(transcript === undefined ? {} : { transcript }),
				...extra,
			},
			...binaryOf(shown),
			pairedItem: { item: pairedItem },
		});
		const transcript = settings.transcriptInOutput ? await this.transcriptOf(files) : undefined;
		const base = settings.binaryPropertyName;
		const failure = undelivered(done, files);
		if (settings.splitFiles && files.length > 0) {
			const there = files.filter(({ problem }) => problem === undefined);
			return {
				items: withProperties(there, () => base).map((file) => item([file])),
				outputs: files.map(({ output }) => output),
				failure,
			};
		}
		const shown = withProperties(files, (index) => (index === 0 ? base : `${base}_${index}`));
		return {
			items: [item(shown)],
			outputs: shown.map(({ output }) => output),
			failure,
			sounds: shown.map(({ sound }) => sound),
		};
	}

	/** What was said when, by the first transcript that can be read; undefined where there is none. */
	private async transcriptOf(files: readonly DeliveredFile[]): Promise<IDataObject[] | undefined> {
		for (const { output, binary } of files) {
			if (output.kind !== 'transcript' || binary === undefined) continue;
			const spoken = await attemptLater(async () => {
				const text = await readStoredText(this.deps.context, binary, MAX_TRANSCRIPT_BYTES);
				return text === undefined ? undefined : await inPieces(transcriptOf(text));
			});
			if (spoken.ok && spoken.value !== undefined) return spoken.value.map((each) => ({ ...each }));
		}
		return undefined;
	}

	private async files(
		{ taskId, task, outputs }: Shown,
		{ download, maxFileBytes, fileName }: FileSettings,
	): Promise<DeliveredFile[]> {
		if (!download)
			return outputs.map(({ url, kind }) => ({
				output: { url, kind },
				binary: undefined,
				problem: undefined,
			}));
		const names = baseNames(outputs, { type: task.type, taskId, fileName });
		return await fetchFiles(outputs, { names, maxBytes: maxFileBytes }, this.deps);
	}
}
