/** Speaks dialogues: `POST /v3/text-to-speech/dialogue`, a form (docs/service.md, "More routes"). */
import type { IDataObject } from 'n8n-workflow';
import { getOrCreate } from '../base/boundedMap';
import { asNumber, asText, isObject, trimmedText } from '../base/json';
import { invalid, type FailureError } from '../base/outcomes';
import type { ItemFields } from './fields';
import { valueIn } from './parameters';
import type { Operation } from './operation';
import * as ui from './ui';
import { captionsField, dictionaryOption, speechExtraFields } from './voiceSettings';

/** A speaker is a letter. */
const MAX_SPEAKERS = 26;

const linesField = ui.jsonListField('Lines', 'linesJson', {
	what: 'The lines in the order in which they are spoken',
	example: '[{"voice_id": "elevenlabs_aria", "text": "Hi!", "speed": 1.1}]',
});

const specifyField = ui.select('Specify Lines', 'specifyLines', {
	options: [
		ui.choice('Using Fields Below', 'fields', 'Enter each line with its voice'),
		ui.choice('Using JSON', 'json', 'Give all lines as a list, e.g. by an expression'),
	],
	default: 'fields',
	description: 'How to enter the lines',
});
const lineRowsField = ui.rowsField('Lines', 'lines', {
	entry: 'line',
	placeholder: 'Add Line',
	description: 'The lines in the order in which they are spoken',
	values: [
		ui.locator('Voice', 'voiceId', {
			required: true,
			placeholder: 'e.g. elevenlabs_21m00Tcm4TlvDq8ikWAM',
			description: 'The voice that speaks the line',
			list: 'searchVoices',
		}),
		ui.text('Text', 'text', {
			placeholder: 'e.g. Is the light on tonight?',
			description: 'What the voice says',
		}),
	],
});

export const dialogueFields = ui.shownWhen({ operation: ['generateDialogue'] }, [
	specifyField,
	...ui.shownWhen({ specifyLines: ['fields'] }, [lineRowsField]),
	...ui.shownWhen({ specifyLines: ['json'] }, [linesField]),
]);

export const lineDelayOption = ui.amount('Pause Between Lines (Seconds)', 'pauseBetweenLines', {
	typeOptions: { minValue: 0, maxValue: 5, numberPrecision: 1 },
	default: 0.5,
	description: 'Silence between two lines, from 0 to 5 seconds',
});

interface Line {
	voice_id: string;
	text: string;
	speed: number | undefined;
}

function wrongLine(number: number, problem: string): FailureError {
	return invalid(
		`Line ${number + 1} of 'Lines' ${problem}`,
		'Each line needs a voice and a text (in JSON: "voice_id" and "text"). If they are expressions, check that this item has values for them. Nothing was sent.',
	);
}

function linesOf(item: ItemFields): Line[] {
	const isJson = item.choice(specifyField) === 'json';
	const rows: unknown[] = isJson ? item.jsonList(linesField) : item.rows(lineRowsField);
	if (rows.length === 0)
		throw invalid(
			"The field 'Lines' is empty",
			'Add a line for each thing that somebody says. Nothing was sent.',
		);
	return rows.map((given, number) => {
		const row = isObject(given) ? given : {};
		const voice_id = trimmedText(valueIn(isJson ? row.voice_id : row.voiceId));
		if (voice_id === undefined) throw wrongLine(number, 'has no voice');
		// The service reads a line break as the end of a line.
		const lines = (asText(row.text) ?? '').split(/[\r\n\u2028\u2029]/);
		const text = lines.flatMap((each) => each.trim() || []).join(' ');
		if (text === '') throw wrongLine(number, 'has no text');
		const speed = row.speed === undefined ? undefined : asNumber(row.speed);
		const isWrong = speed === undefined ? row.speed !== undefined : speed < 0.5 || speed > 1.5;
		if (isWrong) throw wrongLine(number, 'has a speed that is not a number from 0.5 to 1.5');
		return { voice_id, text, speed };
	});
}

/** Gives each voice a letter, in the order in which they first speak. A voice with two speeds has two. */
function dialogueOf(item: ItemFields): IDataObject {
	const letters = new Map<string, string>();
	const spoken = linesOf(item).map(({ text, ...speaker }) => {
		const letterOf = () => String.fromCharCode(65 + letters.size);
		const letter = getOrCreate(letters, JSON.stringify(speaker), letterOf);
		if (letters.size <= MAX_SPEAKERS) return `${letter}> ${text}`;
		throw invalid(
			`The dialogue has more than ${MAX_SPEAKERS} voices`,
			'Split it into several items, and join their files with "Audio: Join". Nothing was sent.',
		);
	});
	const list = [...letters.keys()].map((speaker) => JSON.parse(speaker) as IDataObject);
	return { text: spoken.join('\n'), speakers: list };
}

export const generateDialogue: Operation = {
	value: 'generateDialogue',
	name: 'Generate Dialogue',
	action: 'Generate dialogue',
	description: ui.costing(
		'Generate speech of several voices in one file',
		'according to the number of characters',
	),
	subtitle: 'Dialogue',
	work: {
		kind: 'creates',
		request: (item) => ({
			...{ kind: 'dialogue', makesFile: true },
			path: '/v3/text-to-speech/dialogue',
			optional: 'Speech: Generate Dialogue',
			form: true,
			...item.sends(
				{
					text: linesField,
					speakers: linesField,
					with_transcript: captionsField,
					delay: lineDelayOption,
					pronunciation_dictionary_id: dictionaryOption,
				},
				speechExtraFields,
				{ ...dialogueOf(item), with_transcript: item.boolean(captionsField) || undefined },
			),
		}),
	},
};
