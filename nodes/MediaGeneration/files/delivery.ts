/** Turns one finished task into items: for generations, "Task: Wait", woken executions and the trigger alike. */
import type { IDataObject } from 'n8n-workflow';
import { transcriptOf } from '../audio/captions';
import type { Spoken } from '../audio/srt';
import type { FileSettings } from '../actions/fileSettings';
import type { N8nContext } from '../n8n/execution';
import { inPieces, realClock } from '../n8n/realClock';
import { attemptAsync } from '../base/outcomes';
import { megabytes } from '../base/words';
import { readStoredText } from './binary';
import { fileOpener } from '../transport/fileHost';
import { mapTexts } from '../base/mapTexts';
import { asText, type JsonObject } from '../base/json';
import { TRANSCRIPT } from '../base/bounds';
import { isDataUrl, resolved, type TaskOutput } from '../answers/outputs';
import { withoutEmptyError } from '../n8n/errorItems';
import type { Done } from '../answers/verdict';
import { fieldsOf, present } from '../items/itemJson';
import { fetchFiles, type FetchDeps } from './fetchFiles';
import { fieldName, itemsOf } from './fileItems';
import { baseNameFor } from './fileNames';
import { shortfallOf } from './shortfall';
import type { DeliveredItems, OutputFile } from './outputFile';

type DoneTask = Omit<Done, 'kind'>;

/** Puts a few words in the place of each address that contained its file, which is as long as the file. */
function withShortAddresses(
	{ task: { raw } }: DoneTask,
	{ offered, files }: { offered: readonly TaskOutput[]; files: readonly OutputFile[] },
	{ outputBinaryField, splitFiles }: FileSettings,
): JsonObject {
	const words = new Map<string, string>();
	for (const [index, { url }] of offered.entries()) {
		const { binary, output } = files[index] ?? {};
		if (binary === undefined || !isDataUrl(url)) continue;
		const field = fieldName(outputBinaryField, splitFiles ? 0 : index);
		const [type = ''] = url.split(/[;,]/, 1);
		words.set(url, `${type}, ${megabytes(output?.fileSize ?? 0)}, see ${field}`);
	}
	return words.size === 0 ? raw : mapTexts(raw, (text) => words.get(text.trim()) ?? text);
}

/** Delivers the finished tasks of one run, whose downloads share the slots of each host. */
export class Delivery {
	private readonly deps: FetchDeps;

	/** Relative addresses begin at the `baseUrl`, and files are fetched from private hosts only if it is private. */
	constructor(
		readonly context: N8nContext,
		private readonly run: { baseUrl: string | undefined; signal?: AbortSignal | undefined },
	) {
		const open = fileOpener({ context, baseUrl: run.baseUrl });
		this.deps = { ...realClock, context, open, signal: run.signal, slots: new Map() };
	}

	/** @param index of the input item @param extra further fields of the JSON @param suffix after the File Name */
	async deliverTask(
		done: DoneTask,
		settings: FileSettings,
		{ index, extra = {}, suffix = '' }: { index: number; extra?: IDataObject; suffix?: string },
	): Promise<DeliveredItems> {
		const { taskId, task } = done;
		const offered = resolved(done.outputs, this.run.baseUrl);
		const wanted = () => ({
			maxBytes: settings.maxFileBytes,
			baseName: baseNameFor(done, settings, suffix),
			format: settings.format ?? asText(task.raw.output_format),
		});
		const files: OutputFile[] = settings.download
			? await fetchFiles(offered, wanted(), this.deps)
			: offered.map((output) => ({ output }));
		// A task whose only files are transcripts was made for their text.
		const isText = files.every(({ output }) => output.kind === 'transcript');
		const isShown = settings.transcriptInOutput;
		const spoken = isText || isShown ? await this.transcriptOf(files) : undefined;
		const said = isText && spoken?.map((each) => each.text.replace(/\s+/g, ' ')).join(' ');
		const [text, transcript] = [said || undefined, isShown ? spoken : undefined];
		const { hint, failure } = shortfallOf(done, files);
		const raw = withShortAddresses(done, { offered, files }, settings);
		const fields = task.state === 'failed' ? withoutEmptyError(raw) : fieldsOf(raw);
		const shown = present({ text, transcript, hint });
		const json = { ...fields, task_id: taskId, ...shown, ...extra };
		return { ...itemsOf(files, settings, { json, index }), failure, files };
	}

	private async transcriptOf(files: readonly OutputFile[]): Promise<Spoken[] | undefined> {
		for (const { output, binary } of files) {
			if (output.kind !== 'transcript' || binary === undefined) continue;
			const spoken = await attemptAsync(async () => {
				const text = await readStoredText(this.deps.context, binary, TRANSCRIPT.bytes);
				return text === undefined ? undefined : await inPieces(transcriptOf(text));
			});
			if (spoken.ok && spoken.value !== undefined) return spoken.value;
		}
		return undefined;
	}
}
