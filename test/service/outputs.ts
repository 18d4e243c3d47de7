import { picturePng, pictureSize, type PictureSize } from './media/picture';
import { bulkSound, CONTENT_TYPES, soundFile, soundOf } from './media/sounds';
import { transcriptJson, transcriptSrt } from './media/transcript';
import type { JsonObject, Settings, TaskRecord } from './types';

/** A file of a finished task: what the file host serves under `/files/{task id}/{name}`. */
export interface OutputFile {
	name: string;
	role: 'main' | 'preview' | 'srt' | 'json';
	contentType: string;
	/** Whole content, or the head of a `bulk` file. Made when asked for, not before. */
	content: () => Buffer;
	/** What follows the head of a `bulk` file again and again; a WAV's tone where it is not given. */
	block?: () => Buffer;
	size?: PictureSize;
}

/** What is said in each file that is sent. */
const HEARD = 'The ferry leaves at nine, and the light comes round again.';

/** What the task was asked to say, sound like or show. */
function taskText(task: TaskRecord): string {
	const { text: said, prompt, idea, gpt_description_prompt: simple, lyrics, tags } = task.body;
	const text = said ?? prompt ?? idea ?? simple ?? lyrics ?? tags;
	return typeof text === 'string' ? text : '';
}

/** All files of a task, whether it is finished or not. */
export function outputFiles(task: TaskRecord, settings: Settings): OutputFile[] {
	return task.kind === 'image' ? pictures(task) : sounds(task, settings);
}

function pictures(task: TaskRecord): OutputFile[] {
	const prompt = taskText(task);
	const aspectRatio = (task.body.model_parameters as JsonObject | undefined)?.aspect_ratio;
	const size = pictureSize(aspectRatio);
	const small = pictureSize(aspectRatio, 16);
	const count = task.steering.files ?? Number(task.body.generations_count ?? 1);
	return Array.from({ length: count }, (_, index): OutputFile[] => [
		{
			name: `image-${index + 1}.png`,
			role: 'main',
			contentType: 'image/png',
			content: () => picturePng(prompt, index, size),
			size,
		},
		{
			name: `preview-${index + 1}.png`,
			role: 'preview',
			contentType: 'image/png',
			content: () => picturePng(prompt, index, small),
		},
	]).flat();
}

function sounds(task: TaskRecord, settings: Settings): OutputFile[] {
	const { steering } = task;
	const text = taskText(task);
	// The sound of a dubbing follows from its file and language.
	const { file, target_lang: language } = task.body;
	const dubbed = file === undefined ? undefined : JSON.stringify([file, language]);
	const { previous_text: before, next_text: after } = task.body;
	// What a part was told of its neighbours is heard: it changes the tone.
	const heard = [before, dubbed ?? text, after]
		.filter((each) => typeof each === 'string')
		.join('\n');
	const sound = soundOf(task, settings);
	const name = task.kind === 'sound_effect' ? 'effect' : task.kind.replace(/^speech_.*/, 'speech');
	const make = (index: number) =>
		steering.bytes === undefined
			? { content: () => soundFile(`${heard}${index > 0 ? index : ''}`, sound) }
			: bulkSound(heard, steering.bytes, sound);
	// Music comes as two clips.
	const count = steering.files ?? { music: 2, transcription: 0 }[task.kind as string] ?? 1;
	const files = Array.from({ length: count }, (_, index): OutputFile => ({
		name: `${name}${index > 0 ? `-${index + 1}` : ''}.${sound.format}`,
		role: 'main',
		contentType: CONTENT_TYPES[sound.format],
		...make(index),
	}));
	const isHeard = task.kind === 'transcription' || task.kind === 'dubbing';
	const spoken = isHeard ? HEARD : text.replace(/^[A-Z]> /gm, '');
	if (isHeard || task.body.with_transcript === true) {
		files.push(
			{
				name: 'transcript.srt',
				role: 'srt',
				contentType: 'application/x-subrip',
				content: () => transcriptSrt(spoken),
			},
			{
				name: 'transcript.json',
				role: 'json',
				contentType: 'application/json',
				content: () => transcriptJson(spoken),
			},
		);
	}
	return files;
}
