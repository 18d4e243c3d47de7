/** The voices of the stand-in, and what it refuses: as a service does, so that a mistake can be tried. */
import type { JsonObject } from './types';

export interface Voice extends JsonObject {
	voice_id: string;
	name: string;
}

/** The voice of the examples. */
const RACHEL = '21m00Tcm4TlvDq8ikWAM';
const LANGUAGES = ['English', 'German', 'Spanish', 'Japanese'];
/** Of the provider that has most. */
export const VOICE_COUNT = 250;

/** The n-th voice, from 0. */
function voiceAt(index: number): Voice {
	return {
		voice_id: index === 0 ? RACHEL : `voice-${String(index + 1).padStart(5, '0')}`,
		name: index === 0 ? 'Rachel' : `Voice ${index + 1}`,
		language: LANGUAGES[index % LANGUAGES.length],
		gender: index % 2 === 0 ? 'female' : 'male',
	};
}

const VOICES = Array.from({ length: VOICE_COUNT }, (_, index) => voiceAt(index));
const IDS = new Set(VOICES.map(({ voice_id }) => voice_id));

export function matching(count: number, search = ''): Voice[] {
	// "male" does not find "female".
	const words = ` ${search.toLowerCase()}`;
	return VOICES.slice(0, count).filter((voice) =>
		` ${Object.values(voice).join(' ').toLowerCase()}`.includes(words),
	);
}

/** What the voice IDs of `POST /v3/text-to-speech` begin with. */
export const PROVIDERS = [
	'elevenlabs',
	'minimax',
	'edge',
	'kokoro',
	'vbee',
	'fishaudio',
	'clone',
] as const;

export const isVoiceId = (id: string) =>
	IDS.has(id.replace(new RegExp(`^(${PROVIDERS.join('|')})_`), ''));

/** A name as those of the v1e route, e.g. en-US-AriaNeural. */
export const isVoiceName = (name: string) => /^[a-z]{2}-[A-Z]{2}-\w+Neural$/.test(name);
