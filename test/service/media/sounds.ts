/** The sound of a task, in the format that the settings or the task itself ask for. */
import type { Settings, TaskRecord } from '../types';
import { wavHeader } from './bulk';
import { BITRATES, type Mp3Options, SAMPLE_RATES, toneMp3 } from './mp3';
import { toneHz, toneWav } from './tone';

export interface Sound {
	format: 'wav' | 'mp3';
	mp3: Mp3Options;
	/** Effects and music are stereo, speech is mono. */
	channels: 1 | 2;
}

export const CONTENT_TYPES = { wav: 'audio/wav', mp3: 'audio/mpeg' };

export function soundOf(
	{ id, kind, params, body }: TaskRecord,
	{ audioFormat: format }: Settings,
): Sound {
	const named = namedFormat(params.output_format ?? body.output_format);
	const channels = kind === 'sound_effect' || kind === 'music' ? 2 : 1;
	if (named !== undefined) return { ...named, channels, mp3: { ...named.mp3, title: id } };
	return {
		channels,
		format: format === 'wav' ? 'wav' : 'mp3',
		mp3: { variable: format === 'mp3_vbr', title: id },
	};
}

/** What an `output_format` asks for, e.g. `mp3_44100_128`: undefined where it is none that is known. */
export function namedFormat(value: unknown): Omit<Sound, 'channels'> | undefined {
	const [, kind, rate, bitrate] =
		/^(mp3|wav)(?:_(\d+)(?:_(\d+))?)?$/.exec(typeof value === 'string' ? value : '') ?? [];
	if (kind === undefined) return undefined;
	const sampleRate = SAMPLE_RATES.find((each) => each === Number(rate));
	const kbps = BITRATES.find((each) => each === Number(bitrate));
	return { format: kind === 'wav' ? 'wav' : 'mp3', mp3: { sampleRate, bitrate: kbps } };
}

/** The tone that stands for a text. */
export function soundFile(text: string, { format, mp3, channels }: Sound): Buffer {
	return format === 'mp3' ? toneMp3(text, { ...mp3, channels }) : toneWav(text, { channels });
}

/** Frames of one pitch and format, encoded once: what a file host has ready. There are 80 pitches. */
const blocks = new Map<string, Buffer>();

function blockOf(text: string, options: Mp3Options): Buffer {
	const key = JSON.stringify([toneHz(text), options]);
	const block = blocks.get(key) ?? toneMp3(text, options);
	blocks.set(key, block);
	return block;
}

/** A file of any size, made while it is sent: its head, and what follows that again and again. */
export function bulkSound(text: string, bytes: number, { format, mp3 }: Sound) {
	if (format === 'wav') return { content: () => wavHeader(bytes) };
	const block = () => blockOf(text, { ...mp3, header: false, title: undefined });
	return { content: () => Buffer.alloc(0), block };
}
