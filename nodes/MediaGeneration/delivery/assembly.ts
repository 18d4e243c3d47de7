/**
 * From the finished tasks of one input item to what goes out for it: the item of its one task, one item for each part of a
 * long text, or one item with all parts in one file. The same for runs that wait and for executions that wake.
 */
import type { IBinaryData, IDataObject, INodeExecutionData } from 'n8n-workflow';
import type { LongText } from '../operations/longText';
import type { FileSettings } from '../operations/waiting';
import type { N8nContext } from '../service/client';
import type { Done } from '../service/verdict';
import type { Delivered, Delivery } from './item';
import { inFields, joinSources, type MadeFile, type Source } from './joining';
import { failureOfPart } from './partFailure';

/** How the parts of an item make its output. Plain data: a sleeping execution keeps it. */
export interface Assembly {
	longText: LongText;
	/** The text of each part: for its length, and to name one that failed. */
	texts: string[];
}

export interface AssemblyInput {
	assembly: Assembly;
	files: FileSettings;
	/** Of the input item. */
	index: number;
}

/** A part whose task is done. `delivered`: its files were fetched already. */
export interface DonePart {
	done: Done;
	delivered?: Delivered | undefined;
}

/** Files of a part are fetched as soon as it is over, as their addresses are temporary. @param number from 0 */
export async function deliverPart(
	delivery: Delivery,
	done: Done,
	{ number, assembly, files, index }: AssemblyInput & { number: number },
): Promise<Delivered> {
	const { longText, texts } = assembly;
	const extra = longText.kind === 'parts' ? { part: number + 1, parts: texts.length } : {};
	if (longText.kind === 'join')
		return await delivery.deliver(done, { ...files, splitFiles: false }, index, extra);
	const { sounds: _, ...delivered } = await delivery.deliver(done, files, index, extra);
	return delivered;
}

/** What goes out for an item whose parts are all over, in their order. */
export async function assemble(
	context: N8nContext,
	{ delivery, parts }: { delivery: Delivery; parts: readonly DonePart[] },
	input: AssemblyInput,
): Promise<Delivered> {
	const all = await Promise.all(
		parts.map(
			async ({ done, delivered }, number) =>
				delivered ?? (await deliverPart(delivery, done, { ...input, number })),
		),
	);
	const taskIds = parts.map(({ done }) => done.taskId);
	const { longText, texts } = input.assembly;
	const number = all.findIndex(({ failure }) => failure !== undefined);
	const failure = all[number]?.failure;
	const single = longText.kind === 'off';
	const outputs = all.flatMap((part) => part.outputs);
	if (longText.kind !== 'join' || failure !== undefined) {
		return {
			items: longText.kind === 'join' ? [] : all.flatMap(({ items }) => items),
			outputs: single ? outputs : outputs.map(({ binaryProperty: _moved, ...output }) => output),
			failure:
				failure === undefined || single
					? failure
					: failureOfPart(failure, { number, texts, taskIds }),
		};
	}
	return await joinedItem(context, { all, taskIds, pauseMs: longText.pauseMs }, input);
}

interface Parts {
	all: readonly Delivered[];
	taskIds: string[];
	pauseMs: number;
}

/** The one item of a long text whose parts are joined. */
async function joinedItem(
	context: N8nContext,
	{ all, taskIds, pauseMs }: Parts,
	{ assembly: { texts }, files, index }: AssemblyInput,
): Promise<Delivered> {
	const made = all.map(filesOf);
	const sources = made.map(sourceOf);
	const joined = sources.every((source) => source !== undefined)
		? await joinSources(context, sources, {
				pauseMs,
				maxBytes: files.maxFileBytes,
				baseName: `speech-${taskIds[0] ?? ''}`,
				withTranscript: files.transcriptInOutput,
			})
		: { ok: false as const, reason: 'not every part has an audio file' };
	const { outputs, binary } = inFields(joined.ok ? joined.files : soundsFirst(made.flat()), files);
	const json: IDataObject = {
		status: 'done',
		task_ids: taskIds,
		parts: taskIds.map((task_id, number) => ({
			part: number + 1,
			task_id,
			characters: texts[number]?.length ?? 0,
			...(joined.ok ? joined.times[number] : {}),
		})),
		characters: texts.reduce((sum, text) => sum + text.length, 0),
		...(joined.ok
			? {
					duration_seconds: joined.durationSeconds,
					...(joined.hint === undefined ? {} : { hint: joined.hint }),
				}
			: { joined: false, hint: `The parts could not be joined: ${joined.reason}` }),
		...(joined.ok && joined.transcript !== undefined
			? { transcript: joined.transcript.map((spoken) => ({ ...spoken })) }
			: {}),
		outputs: outputs.map((output) => ({ ...output })),
	};
	const item: INodeExecutionData = { json, binary, pairedItem: { item: index } };
	return { items: [item], outputs, failure: undefined };
}

/** The stored files of one part. */
function filesOf({ items, outputs, sounds }: Delivered): Array<MadeFile & Pick<Source, 'facts'>> {
	const binary = items[0]?.binary ?? {};
	return outputs.flatMap((output, number) => {
		const stored: IBinaryData | undefined =
			output.binaryProperty === undefined ? undefined : binary[output.binaryProperty];
		return stored === undefined ? [] : [{ output, binary: stored, facts: sounds?.[number] }];
	});
}

function sourceOf(files: ReturnType<typeof filesOf>): Source | undefined {
	const sound = files.find(({ output }) => output.kind === 'audio');
	const transcript = (type: RegExp) =>
		files.find(({ output }) => output.kind === 'transcript' && type.test(output.mimeType ?? ''))
			?.binary;
	return sound === undefined
		? undefined
		: {
				sound: sound.binary,
				facts: sound.facts,
				srt: transcript(/subrip/),
				words: transcript(/json/),
			};
}

function soundsFirst(files: readonly MadeFile[]): MadeFile[] {
	const isSound = ({ output }: MadeFile) => output.kind === 'audio';
	return [...files.filter(isSound), ...files.filter((file) => !isSound(file))];
}
