/**
 * What the user sees: the item or items of a finished task, the same for generations, `task: wait`, resumed executions
 * and the trigger (contract, "Output of a finished task").
 */
import type { IBinaryKeyData, IDataObject, INodeExecutionData } from 'n8n-workflow';
import type { FileSettings } from '../operations/waiting';
import type { N8nContext } from '../service/client';
import { quote, type Failure } from '../service/failures';
import { realClock } from '../service/clock';
import { fileOpener } from '../service/fileHost';
import { Limiter } from '../service/limiter';
import type { Task } from '../service/task';
import type { Finished } from '../service/verdict';
import type { DownloadDeps } from './download';
import { baseNames, fetchFiles, type DeliveredFile, type DeliveredOutput } from './files';

export interface DeliveryDeps extends DownloadDeps {
	limiter: Limiter;
}

export interface Delivered {
	items: INodeExecutionData[];
	outputs: DeliveredOutput[];
	/** Outcome `undelivered`, where a file is missing. */
	failure: Failure | undefined;
}

/** How many files are downloaded at the same time by one run. */
export const CONCURRENT_DOWNLOADS = 4;

function propertyName(base: string, index: number): string {
	return index === 0 ? base : `${base}_${index}`;
}

function undelivered(taskId: string, task: Task, files: DeliveredFile[]): Failure | undefined {
	const missing = files.filter(({ problem }) => problem !== undefined);
	const [first] = missing;
	if (first === undefined) return undefined;
	const which =
		missing.length === files.length && files.length === 1
			? 'its file'
			: `${missing.length} of its ${files.length} files`;
	return {
		outcome: 'undelivered',
		message: `Task ${taskId} is done, but ${which} could not be downloaded: ${quote(first.problem) ?? 'unknown reason'}`,
		description: `The task is paid for. Use "Task: Wait" with this task ID to fetch the files again, or open the addresses: ${missing.map(({ output }) => output.url).join(' ')}`,
		taskId,
		status: task.status,
	};
}

/**
 * Downloads the files of a finished task where wanted and builds its items. Never rejects.
 *
 * @param pairedItem index of the input item
 * @param extra further fields of the JSON, e.g. `verified`
 * @param request the creation request's body, where it is known
 */
export async function deliver(
	context: N8nContext,
	{ taskId, task, outputs }: Finished,
	settings: FileSettings,
	pairedItem: number,
	deps: DeliveryDeps,
	extra: IDataObject = {},
): Promise<Delivered> {
	const files: DeliveredFile[] = settings.download
		? await fetchFiles(
				context,
				outputs,
				baseNames(outputs, task.type, taskId),
				settings.maxFileBytes,
				deps.limiter,
				deps,
			)
		: outputs.map(({ url, kind }) => ({
				output: { url, kind },
				binary: undefined,
				problem: undefined,
			}));
	const shown = files.map((file, index): DeliveredFile => {
		if (file.binary === undefined) return file;
		const binaryProperty = propertyName(
			settings.binaryPropertyName,
			settings.splitFiles ? 0 : index,
		);
		return { ...file, output: { ...file.output, binaryProperty } };
	});
	const json = (delivered: DeliveredFile[]): IDataObject => ({
		...(task.raw as IDataObject),
		task_id: taskId,
		outputs: delivered.map(({ output }) => ({ ...output })),
		...extra,
	});
	const item = (delivered: DeliveredFile[]): INodeExecutionData => {
		const binary: IBinaryKeyData = {};
		for (const { binary: data, output } of delivered) {
			if (data !== undefined && output.binaryProperty !== undefined)
				binary[output.binaryProperty] = data;
		}
		return {
			json: json(delivered),
			...(Object.keys(binary).length === 0 ? {} : { binary }),
			pairedItem: { item: pairedItem },
		};
	};
	const split = settings.splitFiles && shown.length > 0;
	return {
		items: split ? shown.map((file) => item([file])) : [item(shown)],
		outputs: shown.map(({ output }) => output),
		failure: undelivered(taskId, task, shown),
	};
}

/** The one front door: delivers finished tasks with one limiter for all of them. */
export class Delivery {
	private readonly deps: DeliveryDeps;

	constructor(
		private readonly context: N8nContext,
		{ signal }: { signal?: AbortSignal; baseUrl: string },
	) {
		this.deps = {
			open: fileOpener(context),
			now: realClock.now,
			sleep: realClock.sleep,
			signal,
			limiter: new Limiter(CONCURRENT_DOWNLOADS),
		};
	}

	async deliver(
		{ taskId, task, outputs }: Finished,
		settings: FileSettings,
		pairedItem: number,
		extra: IDataObject = {},
	): Promise<Delivered> {
		return await deliver(
			this.context,
			{ taskId, task, outputs },
			settings,
			pairedItem,
			this.deps,
			extra,
		);
	}
}
