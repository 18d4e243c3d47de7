/** The items of a finished task: the same for generations, `task: wait`, resumed executions and the trigger. */
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import { transcriptOf } from '../media/captions';
import type { Spoken } from '../media/srt';
import type { FileSettings } from '../operations/waiting';
import type { N8nContext } from '../service/client';
import { inPieces, realClock } from '../service/clock';
import { attemptLater, quote, type Failure } from '../service/failures';
import { MAX_TRANSCRIPT_BYTES, readStoredText } from './binary';
import { fileOpener } from '../service/fileHost';
import type { JsonObject } from '../service/json';
import { Limiter } from '../service/limiter';
import { withoutEmptyError } from '../service/task';
import type { Done } from '../service/verdict';
import {
	fetchFiles,
	inFields,
	type DeliveredFile,
	type DeliveredOutput,
	type FetchDeps,
	type StoredFile,
} from './files';

/** Names that n8n or this package give a meaning. A task's own fields of these names go out with `task_` in front. */
const OWN_NAMES = ['error', 'outcome', 'timed_out', 'task_ids', 'part', 'parts', 'joined'];

/** What goes out of a task, or of the answer to a creation, under names that mean nothing else. */
export function fieldsOf(raw: JsonObject): IDataObject {
	const entries = Object.entries(withoutEmptyError(raw));
	return Object.fromEntries(
		entries.map(([name, value]) => [OWN_NAMES.includes(name) ? `task_${name}` : name, value]),
	);
}

export interface Whole {
	/** One item; with Split Files one for each file that is there, and none where none is. */
	items: INodeExecutionData[];
	/** All files, including missing ones. Names the binary fields of `items[0]`; with Split Files it names none. */
	outputs: DeliveredOutput[];
	/** Outcome `undelivered`, where a file is missing. */
	failure: Failure | undefined;
}

export type Delivered = Whole & { files: readonly StoredFile[] };

type Shown = Omit<Done, 'kind'>;

const CONCURRENT_DOWNLOADS = 4;
const NAMED_ADDRESSES = 20;

function undelivered({ taskId, task }: Shown, files: DeliveredFile[]): Failure | undefined {
	const missing = files.filter((file) => file.kind === 'missing');
	const [first] = missing;
	if (first === undefined) return undefined;
	const which = files.length === 1 ? 'its file' : `${missing.length} of its ${files.length} files`;
	const named = missing.slice(0, NAMED_ADDRESSES).map(({ output }) => output.url);
	const others = missing.length - named.length;
	const more = others === 0 ? '' : ` and ${others} more, which the field "outputs" has`;
	return {
		outcome: 'undelivered',
		message: `Task ${taskId} is done, but ${which} could not be downloaded: ${quote(first.problem) ?? first.problem}`,
		description: `The task is paid for. Use "Task: Wait" with this task ID to fetch the files again, or open the addresses: ${named.join(' ')}${more}`,
		taskId,
		status: task.status,
	};
}

/** Delivers the finished tasks of one run; its downloads share a limited number of slots. */
export class Delivery {
	private readonly deps: FetchDeps;

	/** @param baseUrl of the service: only where it is private are files fetched from private addresses */
	constructor(
		context: N8nContext,
		{ baseUrl, signal }: { baseUrl: string | undefined; signal?: AbortSignal | undefined },
	) {
		const open = fileOpener({ context, baseUrl });
		const limiter = new Limiter(CONCURRENT_DOWNLOADS);
		this.deps = { ...realClock, context, open, signal, limiter };
	}

	/** @param to the input item, and further fields of the JSON */
	async deliver(
		done: Shown,
		settings: FileSettings,
		{ index, extra = {} }: { index: number; extra?: IDataObject },
	): Promise<Delivered> {
		const { taskId, task, outputs: offered } = done;
		const { fileName, maxFileBytes: maxBytes } = settings;
		const wanted = { type: task.type, taskId, fileName, maxBytes };
		const files: DeliveredFile[] = settings.download
			? await fetchFiles(offered, wanted, this.deps)
			: offered.map((output) => ({ kind: 'offered', output }));
		const transcript = settings.transcriptInOutput ? await this.transcriptOf(files) : undefined;
		const itemWith = (shown: readonly DeliveredFile[]): INodeExecutionData => {
			const { outputs, binary } = inFields(shown, settings.binaryPropertyName);
			const json: IDataObject = {
				...(task.state === 'failed' ? withoutEmptyError(task.raw) : fieldsOf(task.raw)),
				task_id: taskId,
				outputs,
				...(transcript === undefined ? {} : { transcript }),
				...extra,
			};
			const fields = Object.keys(binary).length === 0 ? {} : { binary };
			return { json, ...fields, pairedItem: { item: index } };
		};
		const isSplit = settings.splitFiles && files.length > 0;
		const there = files.filter(({ kind }) => kind !== 'missing');
		return {
			items: isSplit ? there.map((file) => itemWith([file])) : [itemWith(files)],
			outputs: isSplit
				? files.map(({ output }) => output)
				: inFields(files, settings.binaryPropertyName).outputs,
			failure: undelivered(done, files),
			files: files.filter((file) => file.kind === 'stored'),
		};
	}

	private async transcriptOf(files: readonly DeliveredFile[]): Promise<Spoken[] | undefined> {
		for (const file of files) {
			if (file.output.kind !== 'transcript' || file.kind !== 'stored') continue;
			const spoken = await attemptLater(async () => {
				const text = await readStoredText(this.deps.context, file.binary, MAX_TRANSCRIPT_BYTES);
				return text === undefined ? undefined : await inPieces(transcriptOf(text));
			});
			if (spoken.ok && spoken.value !== undefined) return spoken.value;
		}
		return undefined;
	}
}
