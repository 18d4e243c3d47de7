/** Makes music: `POST /v1s/task/music-generation` (docs/service.md, "More routes"). One task usually makes two clips. */
import { invalid } from '../base/outcomes';
import type { ItemFields } from './fields';
import type { Resource } from './operation';
import * as ui from './ui';

const modeField = ui.select('Mode', 'mode', {
	options: [
		ui.choice('Custom', 'custom', 'Give the lyrics, the style or both yourself'),
		ui.choice('Simple', 'simple', 'Describe the song; the service does the rest'),
	],
	default: 'simple',
	description: 'How to describe the song',
});
const simpleSong = {
	gpt_description_prompt: ui.text('Prompt', 'prompt', {
		typeOptions: { rows: 3 },
		required: true,
		placeholder: 'e.g. A slow waltz for two guitars',
		description: 'Description of the song. Services accept up to 500 characters.',
	}),
	make_instrumental: ui.toggle('Instrumental', 'instrumental', {
		description: 'Whether to make music without singing',
	}),
};
const customSong = {
	title: ui.text('Title', 'title', {
		placeholder: 'e.g. Harbour Lights',
		description: 'Title of the song. Services accept up to 80 characters.',
	}),
	lyrics: ui.text('Lyrics', 'lyrics', {
		typeOptions: { rows: 4 },
		placeholder: 'e.g. The light comes round again',
		description: 'The text to sing. Required if Tags is empty.',
	}),
	tags: ui.text('Tags', 'tags', {
		placeholder: 'e.g. folk, acoustic guitar, slow',
		description: 'The style of the song. Required if Lyrics is empty.',
	}),
};
const genderOption = ui.select('Vocal Gender', 'vocalGender', {
	options: [
		ui.choice('Any', '', 'Let the service choose'),
		ui.choice('Female', 'f', 'A female voice sings'),
		ui.choice('Male', 'm', 'A male voice sings'),
	],
	description: 'Who sings',
});
const musicExtraFields = ui.extraFieldsOption('{"major_model_version": "v4.5-all"}');

function songFields(item: ItemFields): ui.SentFields {
	if (item.choice(modeField) === 'simple') return { create_mode: modeField, ...simpleSong };
	if (item.text(customSong.lyrics) === undefined && item.text(customSong.tags) === undefined)
		throw invalid(
			"The fields 'Lyrics' and 'Tags' are empty",
			"Fill in 'Lyrics', 'Tags' or both, or set 'Mode' to Simple. Nothing was sent.",
		);
	return { create_mode: modeField, ...customSong, vocal_gender: genderOption };
}

export const music: Resource = {
	value: 'music',
	name: 'Music',
	fields: [
		modeField,
		...ui.shownWhen({ mode: ['simple'] }, Object.values(simpleSong)),
		...ui.shownWhen({ mode: ['custom'] }, Object.values(customSong)),
	],
	options: [musicExtraFields, ...ui.shownWhen({ mode: ['custom'] }, [genderOption])],
	operations: [
		{
			value: 'generate',
			name: 'Generate',
			action: 'Generate music',
			description: ui.costing(
				'Generate music from a description, or from lyrics and style. One task usually makes two clips',
				'per task',
			),
			subtitle: 'Music',
			work: {
				kind: 'creates',
				request: (item) => ({
					...{ kind: 'music', makesFile: true },
					path: '/v1s/task/music-generation',
					optional: 'Music: Generate',
					...item.sends(songFields(item), musicExtraFields),
				}),
			},
		},
	],
};
