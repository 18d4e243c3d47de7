import type { JsonObject, ProfileName, Settings, SettingsPatch } from './types';

/** A service that behaves: tasks of 2 s, honest progress, one callback, no limits. */
export function defaultSettings(): Settings {
	return {
		taskMs: 2000,
		credits: 1_000_000,
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
		},
		lists: {
			tasks: false,
			tasksLagMs: 0,
			times: 'ISO',
		},
		clockOffsetMs: 0,
		taskShape: 'root',
		numbersAsStrings: false,
		refusalStyle: 'http',
		speechRoute: 'v1',
		moreRoutes: false,
		// In snake_case (docs/service.md, "Resources"), of which only `sound_effect` is shown.
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
		},
		activeTaskLimit: null,
		noUrlLooks: 0,
		audioFormat: 'wav',
		fileRedirect: 'none',
		callbacks: {
			copies: 1,
			concurrent: false,
			beforeCreationAnswer: false,
			retryOn5xx: 0,
			retryDelayMs: 500,
			drop: false,
		},
	};
}

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

const NESTED = new Set<string>(['callbacks', 'costs', 'lists', 'taskTypes']);

/** Puts a patch into live settings, in place. Names that are not settings are an error: a misspelt one would test nothing. */
export function applySettings(settings: Settings, patch: SettingsPatch): void {
	const target = settings as unknown as JsonObject;
	for (const [name, value] of Object.entries(patch)) {
		if (!Object.hasOwn(target, name)) throw new Error(`No such setting: ${name}`);
		if (NESTED.has(name)) Object.assign(target[name] as JsonObject, value);
		else target[name] = value;
	}
}
