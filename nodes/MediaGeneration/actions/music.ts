/** Makes music: `POST /v1s/task/music-generation` (docs/service.md, "More routes"). One task usually makes two clips. */
import type { IDataObject } from 'n8n-workflow';
import { invalid } from '../base/outcomes';
import type { ItemFields } from './fields';
import type { Resource } from './operation';
import * as ui from './ui';

const musicExtraFields = ui.extraFieldsOption('{"major_model_version": "v4.5-all"}');
const inMode = (mode: string, fields: Parameters<typeof ui.shownWhen>[1]) =>
	ui.shownWhen({ mode: [mode] }, fields);

const musicLabels = {
	create_mode: 'Mode',
	gpt_description_prompt: 'Prompt',
	make_instrumental: 'Instrumental',
	title: 'Title',
	lyrics: 'Lyrics',
	tags: 'Tags',
	vocal_gender: 'Vocal Gender',
};

function songFields(item: ItemFields): IDataObject {
	if (item.choice('mode', 'Mode', ['simple', 'custom']) === 'simple')
		return {
			create_mode: 'simple',
			gpt_description_prompt: item.requiredText('prompt', 'Prompt'),
			make_instrumental: item.boolean('instrumental', 'Instrumental'),
		};
	const lyrics = item.optionalText('lyrics', 'Lyrics');
	const tags = item.optionalText('tags', 'Tags');
	if (lyrics === undefined && tags === undefined)
		throw invalid(
			"The fields 'Lyrics' and 'Tags' are empty",
			"Fill in 'Lyrics', 'Tags' or both, or set 'Mode' to Simple. Nothing was sent.",
		);
	const vocal_gender = item.choice('vocalGender', 'Vocal Gender', ['', 'f', 'm']) || undefined;
	const title = item.optionalText('title', 'Title');
	return { create_mode: 'custom', title, lyrics, tags, vocal_gender };
}

export const music: Resource = {
	value: 'music',
	name: 'Music',
	fields: [
		ui.select('Mode', 'mode', {
			options: [
				ui.choice('Custom', 'custom', 'Give the lyrics, the style or both yourself'),
				ui.choice('Simple', 'simple', 'Describe the song; the service does the rest'),
			],
			default: 'simple',
			description: 'How to describe the song',
		}),
		...inMode('simple', [
			ui.text('Prompt', 'prompt', {
				typeOptions: { rows: 3 },
				required: true,
				placeholder: 'e.g. A slow waltz for two guitars',
				description: 'Description of the song. Services accept up to 500 characters.',
			}),
			ui.toggle('Instrumental', 'instrumental', {
				description: 'Whether to make music without singing',
			}),
		]),
		...inMode('custom', [
			ui.text('Title', 'title', {
				placeholder: 'e.g. Harbour Lights',
				description: 'Title of the song. Services accept up to 80 characters.',
			}),
			ui.text('Lyrics', 'lyrics', {
				typeOptions: { rows: 4 },
				placeholder: 'e.g. The light comes round again',
				description: 'The text to sing. Required if Tags is empty.',
			}),
			ui.text('Tags', 'tags', {
				placeholder: 'e.g. folk, acoustic guitar, slow',
				description: 'The style of the song. Required if Lyrics is empty.',
			}),
		]),
	],
	options: [
		musicExtraFields,
		...inMode('custom', [
			ui.select('Vocal Gender', 'vocalGender', {
				options: [
					ui.choice('Any', '', 'Let the service choose'),
					ui.choice('Female', 'f', 'A female voice sings'),
					ui.choice('Male', 'm', 'A male voice sings'),
				],
				description: 'Who sings',
			}),
		]),
	],
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
					kind: 'music',
					path: '/v1s/task/music-generation',
					optional: 'Music: Generate',
					body: item.body({ ...songFields(item) }, musicExtraFields),
					labels: musicLabels,
				}),
			},
		},
	],
};
