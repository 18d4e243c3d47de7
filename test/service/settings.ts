import type { JsonObject, ProfileName, TaskKind } from './types';
import { isObject } from './validation';

/** One of several words, of which the first is meant unless a profile or a test chooses another one. */
const oneOf = <const Word extends string>(...words: readonly [Word, ...Word[]]): Word => words[0];

/** A service that behaves: tasks of 2 s, honest progress, one callback, no limits. Live and mutable: the next request sees a change. */
export const defaultSettings = () => ({
	/** How long a task takes; between two times by the seed. */
	taskMs: 2000 as number | { min: number; max: number },
	/** The balance itself: creations lower it, refunds raise it. */
	credits: 1_000_000,
	/** Price of a task; images cost it once a picture. */
	costs: {
		sound_effect: 10,
		speech_by_id: 20,
		speech_by_name: 5,
		image: 30,
		music: 50,
		dialogue: 20,
		dubbing: 40,
		transcription: 6,
		voice_changer: 30,
		voice_isolate: 30,
	} satisfies Record<TaskKind, number>,
	/** Which lists the service publishes (docs/service.md, "More routes"). */
	lists: {
		/** `GET /v1/tasks`: all tasks of the account, whichever key made them. */
		tasks: false,
		/** A task is listed that long after its creation. */
		tasksLagMs: 0,
		/** How a listed task says when it was made; `local` is the time of a zone that it does not name. */
		times: oneOf('ISO', 'none', 'another name', 'local'),
	},
	/** How far the service's clock is ahead of ours, as the Date header and created_at show. */
	clockOffsetMs: 0,
	/** `wrapped`: a poll is answered `{success, data: task}`. */
	taskShape: oneOf('root', 'wrapped'),
	/** Creation answers carry their numbers as strings (docs/service.md, "Shapes"). */
	numbersAsStrings: false,
	/** `insideHttp200`: `{success: false, message}` with 200; an invalid key stays 401. */
	refusalStyle: oneOf('http', 'insideHttp200'),
	/** Where speech by voice ID is made. With `v3`, a form whose voice IDs begin with a provider, the v1 route refuses. */
	speechRoute: oneOf('v1', 'v3'),
	/** Whether there are music, dialogue, tasks made of a file, forms for images, deletion and prices, and keys in `xi-api-key`. */
	moreRoutes: false,
	/** The `type` of a task: in snake_case (docs/service.md, "Resources"), of which only `sound_effect` is shown. */
	taskTypes: {
		sound_effect: 'sound_effect',
		speech_by_id: 'text_to_speech',
		speech_by_name: 'text_to_speech',
		image: 'image',
		music: 'music_generation',
		dialogue: 'tts',
		dubbing: 'dubbing',
		transcription: 'speech_to_text',
		voice_changer: 'voice_changer',
		voice_isolate: 'voice_isolate',
	} satisfies Record<TaskKind, string>,
	/** Beyond it, 429 with the code `active_task_limit`, and nothing is created. */
	activeTaskLimit: null as number | null,
	/** For how many GETs of the task it is done, but without any URL (docs/service.md, "Status"). */
	noUrlLooks: 0,
	/** If the request names no `output_format`. `mp3_vbr`: MP3 whose bit rate varies. Each text has a tone of its own, as long as the text. */
	audioFormat: oneOf('wav', 'mp3', 'mp3_vbr'),
	/** `otherHost`: 302 to the third host. */
	fileRedirect: oneOf('none', 'otherHost'),
	/** Completion callbacks (docs/service.md, "Callbacks"). */
	callbacks: {
		/** How often each callback is sent: all at once, or one after another. */
		copies: 1,
		concurrent: false,
		/** The task ends at once and its callback is delivered before the creation is answered. */
		beforeCreationAnswer: false,
		/** How many more times a callback is sent that was answered 5xx, or not at all. */
		retryOn5xx: 0,
		retryDelayMs: 500,
		drop: false,
	},
});

export type Settings = ReturnType<typeof defaultSettings>;
/** Partial on every level: what `startService` takes. */
export type SettingsPatch = {
	[Name in keyof Settings]?: Settings[Name] | Partial<Settings[Name]>;
};

/** What each profile changes of the default settings. */
export const profiles: Record<ProfileName, SettingsPatch> = {
	specification: {},
	today: {
		speechRoute: 'v3',
		moreRoutes: true,
		audioFormat: 'mp3',
		lists: { tasks: true },
		taskTypes: {
			speech_by_id: 'tts',
			speech_by_name: 'tts',
			image: 'imagen2',
			music: 'suno_music',
		},
	},
};

/** Puts a patch into live settings, in place. Names that are not settings are an error: a misspelt one would test nothing. */
export function applySettings(settings: Settings, patch: SettingsPatch): void {
	const target = settings as unknown as JsonObject;
	for (const [name, value] of Object.entries(patch)) {
		if (!Object.hasOwn(target, name)) throw new Error(`No such setting: ${name}`);
		const present = target[name];
		const isPart = isObject(present) && isObject(value);
		target[name] = isPart ? Object.assign(present, value) : value;
	}
}
