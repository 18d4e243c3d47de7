/** A file on its way into an item: one shape from its address to its binary field. */
import type { IBinaryData, INodeExecutionData } from 'n8n-workflow';
import { isDataUrl, type TaskOutput } from '../answers/outputs';
import { extensionIn, mediaOf } from '../base/fileTypes';
import { toMs, type SoundFacts } from '../audio/sound';
import type { Failure } from '../base/outcomes';
import type { ShownOutput } from '../items/shownItem';

export interface WantedFile extends TaskOutput {
	maxBytes: number;
	/** Name without its extension. */
	baseName: string;
	/** Output format that the request asked for, if any. */
	format?: string | undefined;
}

/** A file of a finished task. It has neither `binary` nor `problem` if it was not to be fetched. */
export interface OutputFile {
	output: ShownOutput;
	/** Where n8n stored it. */
	binary?: IBinaryData | undefined;
	/** Facts of a sound that was fetched. */
	sound?: SoundFacts | undefined;
	/** Completes "could not be downloaded: ...". */
	problem?: string;
}

/** The output of one finished task, or of all tasks of an input item. */
export interface DeliveredItems {
	/** One item; with Split Files one for each file that is there, and none if there is none. */
	items: INodeExecutionData[];
	/** All files, including missing ones. Names the binary fields of `items[0]`; with Split Files it names none. */
	outputs: ShownOutput[];
	/** Outcome `undelivered` if a file is missing. */
	failure: Failure | undefined;
	files: readonly OutputFile[];
}

export function storedFile(
	{ url, kind: offered }: TaskOutput,
	binary: IBinaryData,
	{ sound, ...stored }: Omit<ShownOutput, 'url' | 'kind'> & { sound: SoundFacts },
): OutputFile {
	const media = mediaOf(extensionIn(stored.fileName ?? ''));
	// Its bytes say what it is if neither the task nor the address does.
	const isShown = offered === 'file' && (media === 'audio' || media === 'image');
	const kind = isShown ? media : offered;
	// The task's own fields have an address that contains its file, too.
	const output: ShownOutput = { ...(!isDataUrl(url) && { url }), kind, ...stored };
	if (kind !== 'audio') return { output, binary };
	if (sound.kind !== 'none') output.durationSeconds = toMs(sound.seconds);
	return { output, binary, sound };
}
