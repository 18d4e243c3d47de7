/** Turns all finished tasks of an input item into its output: the items of each, or a long text joined into one. */
import type { IDataObject } from 'n8n-workflow';
import type { FileSettings } from '../actions/fileSettings';
import type { N8nContext } from '../n8n/execution';
import { broken } from '../answers/failures';
import { asNumber, sumOf } from '../base/json';
import type { Done } from '../answers/verdict';
import { present } from '../items/itemJson';
import type { ShownOutput } from '../items/shownItem';
import { itemsOf } from './fileItems';
import { baseNameOf } from './fileNames';
import type { DeliveredItems, OutputFile } from './outputFile';
import type { Delivery } from './delivery';
import { joinParts } from './joining';
import { charactersOf, failureOfText, partJson, pauseMsOf, type Assembly } from '../items/parts';

export interface AssemblyInput {
	index: number;
	assembly: Assembly;
	settings: { files: FileSettings };
}

export interface DonePart extends Done {
	/** Undefined until its files are fetched. */
	delivered?: DeliveredItems | undefined;
}

/** Returns what follows the File Name. A text's items are numbered with equally many digits, so that their names sort like its parts. */
function suffixOf(number: number, { longText, texts }: Assembly): string {
	if (longText.kind !== 'parts') return number === 0 ? '' : `_${number}`;
	const last = String(texts.length);
	return last === '1' ? '' : `-${String(number + 1).padStart(last.length, '0')}`;
}

/** Fetches the files of a part as soon as it has ended, because their addresses are temporary. @param number from 0 */
export async function deliverPart(
	delivery: Pick<Delivery, 'deliverTask'>,
	done: Done,
	{ number, assembly, settings: { files }, index }: AssemblyInput & { number: number },
): Promise<DeliveredItems> {
	const { longText, texts } = assembly;
	const extra = longText.kind === 'parts' ? { part: number + 1, parts: texts.length } : {};
	const suffix = suffixOf(number, assembly);
	return await delivery.deliverTask(done, files, { index, extra, suffix });
}

/** Makes the output of an item whose parts are all done, in their order. Never rejects: an exception becomes its failure. */
export async function assemble(
	delivery: Delivery,
	parts: readonly DonePart[],
	input: AssemblyInput,
): Promise<DeliveredItems> {
	const { assembly } = input;
	const { longText } = assembly;
	const taskIds = parts.map(({ taskId }) => taskId);
	try {
		const all = await Promise.all(
			parts.map(
				async (part, number) =>
					part.delivered ?? (await deliverPart(delivery, part, { ...input, number })),
			),
		);
		const number = all.findIndex(({ failure }) => failure !== undefined);
		const failure = all[number]?.failure;
		if (failure === undefined && longText.kind === 'join')
			return await joinedItem(delivery.context, { all, done: parts }, input);
		const outputs = all.flatMap((part) => part.outputs);
		return {
			items: longText.kind === 'join' ? [] : all.flatMap(({ items }) => items),
			outputs: longText.kind === 'off' ? outputs : outputs.map(unnamed),
			failure: failure && failureOfText(failure, { number, assembly, taskIds }),
			files: all.flatMap(({ files }) => files),
		};
	} catch (error) {
		const failure = failureOfText(broken(error, 'done', taskIds[0]), { assembly, taskIds });
		return { items: [], outputs: parts.flatMap(({ outputs }) => outputs), failure, files: [] };
	}
}

/** Each part has binary fields of its own, so their names mean nothing beside those of the others. */
const unnamed = ({ binaryProperty: _moved, ...output }: ShownOutput): ShownOutput => output;

async function joinedItem(
	context: N8nContext,
	{ all, done }: { all: DeliveredItems[]; done: readonly Done[] },
	{ assembly, settings: { files }, index }: AssemblyInput,
): Promise<DeliveredItems> {
	const parts = all.map(({ files: own }) => own);
	const joined = await joinParts(context, parts, {
		pauseMs: pauseMsOf(assembly),
		baseName: baseNameOf(files.fileName) ?? `speech-${done[0]?.taskId ?? ''}`,
		maxBytes: files.maxFileBytes,
		withTranscript: files.transcriptInOutput,
	});
	const given = parts.flat();
	const rank = ({ output }: OutputFile) => (output.kind === 'audio' ? 0 : 1);
	// The address of a transcript that could not be had stays.
	const missing = given.filter(({ problem }) => problem !== undefined);
	const shown = joined.ok
		? { ...joined, files: [...joined.files, ...missing] }
		: {
				files: given.sort((one, other) => rank(one) - rank(other)),
				times: [],
				json: { joined: false, hint: `The parts could not be joined: ${joined.reason}` },
			};
	const json: IDataObject = {
		...jsonOfText(assembly, done),
		parts: done.map(({ taskId }, number) => ({
			...partJson(assembly, number, taskId),
			...shown.times[number],
		})),
		...shown.json,
	};
	const made = itemsOf(shown.files, files, { json, index });
	return { ...made, failure: undefined, files: shown.files };
}

function jsonOfText({ texts }: Assembly, done: readonly Done[]): IDataObject {
	return present({
		task_id: done[0]?.taskId,
		status: 'done',
		type: done[0]?.task.type,
		task_ids: done.map(({ taskId }) => taskId),
		characters: sumOfAll(texts.map(charactersOf)),
		credit_cost: sumOfAll(done.map(({ task }) => asNumber(task.raw.credit_cost))),
	});
}

function sumOfAll(numbers: ReadonlyArray<number | undefined>): number | undefined {
	const known = numbers.filter((each) => each !== undefined);
	return known.length === numbers.length ? sumOf(known) : undefined;
}
