/** The workflows of these suites, small enough to be written in code. */
import {
	action,
	called,
	generate,
	last,
	type Node,
	oneItemEach,
	trigger,
} from '../n8n/harness/nodes';

/** One task to be made: its text says which, so that the service's ledger can be laid beside ours. */
export interface Job {
	text: string;
	standIn: Record<string, unknown>;
}

const text = '={{ $json.job.text }}';

/** What an operation wants to make a task of `$json.job.text`. */
export const media = {
	'sound effect': { resource: 'soundEffect', operation: 'generate', text },
	'speech by ID': {
		resource: 'speech',
		operation: 'generateByVoiceId',
		voiceId: '21m00Tcm4TlvDq8ikWAM',
		modelId: 'eleven_multilingual_v2',
		outputFormat: 'mp3_44100_128',
		text,
	},
	'speech by name': {
		resource: 'speech',
		operation: 'generateByVoiceName',
		voice: 'en-US-AriaNeural',
		withTranscript: true,
		text,
	},
	images: {
		resource: 'image',
		operation: 'generate',
		prompt: text,
		modelId: 'image-1',
		generationsCount: 2,
		aspectRatio: '16:9',
		resolution: '1K',
	},
} as const satisfies Record<string, Record<string, unknown>>;
export type Media = keyof typeof media;

interface GenerateOptions {
	/** A sound effect unless told otherwise. */
	of?: Media;
	fields?: Record<string, unknown>;
	options?: Record<string, unknown>;
}

const goOn = { onError: 'continueRegularOutput' };

/** `POST /webhook/PATH { jobs }` makes one task for each job; what comes out is in the node `Generate`. */
export function generating(
	path: string,
	{ of = 'sound effect', fields, options }: GenerateOptions = {},
): Node[] {
	const node = generate({ ...media[of], ...fields }, options, goOn);
	return [called(path), oneItemEach(), node, last()];
}

/** `POST /webhook/PATH { taskIds }` fetches tasks that exist already. */
export function recovering(path: string): Node[] {
	const wait = { resource: 'task', operation: 'wait', taskId: '={{ $json.task_id }}' };
	return [called(path), oneItemEach('taskIds', 'task_id'), action(wait, goOn)];
}

/** Runs once for each callback; what came is in the node `Finished`. */
export const triggered = (path: string): Node[] => [trigger(path), last()];
