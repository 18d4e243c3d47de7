/** Splits texts longer than one request takes: the fields, how they are read, and the requests for the parts (docs/media.md). */
import type { INodeProperties } from 'n8n-workflow';
import { splitText } from '../audio/split';
import type { Work } from '../base/work';
import { invalid } from '../base/outcomes';
import { asText } from '../base/json';
import { quote } from '../base/words';
import type { ItemFields } from './fields';
import type { CreationRequest } from '../answers/request';
import * as ui from './ui';

export type LongText =
	| { kind: 'off' }
	/** Each part is a task, and all of them make one file, with `pauseMs` of silence between two. */
	| { kind: 'join'; maxCharacters: number; pauseMs: number }
	| { kind: 'parts'; maxCharacters: number };

const charactersOption = ui.amount('Max Characters per Part', 'maxCharacters', {
	typeOptions: { minValue: 50, numberPrecision: 0 },
	default: 2_500,
	description:
		'Longer texts are split into parts of at most this length, each of which is a task. Services accept 2,000 to 10,000 characters per request, depending on the model.',
});

export const longTextField = ui.select('Long Text', 'longText', {
	options: [
		ui.choice(
			'Join Into One File',
			'join',
			'Split the text, speak all parts at once, wait for them, and join them into one file',
		),
		ui.choice('Off', 'off', 'Send the text as it is, in one request'),
		ui.choice(
			'One Item per Part',
			'parts',
			"Split the text, and output one item for each part. Can't be suspended.",
		),
	],
	default: 'off',
	description:
		'Whether to split texts longer than Max Characters per Part, and what comes out. Joining always waits for completion.',
});

export const pauseOption = ui.amount('Pause Between Parts (Ms)', 'pauseBetweenParts', {
	typeOptions: { minValue: 0, maxValue: 60_000 },
	description: 'Silence between the parts of a joined file, in milliseconds',
});

export const longTextOptions: INodeProperties[] = [
	...ui.shownWhen({ longText: ['join', 'parts'] }, [charactersOption]),
	...ui.shownWhen({ longText: ['join'] }, [pauseOption]),
];

export function readLongText(fields: ItemFields): LongText {
	const kind = fields.choice(longTextField);
	if (kind === 'off') return { kind };
	const maxCharacters = fields.number(charactersOption);
	return kind === 'parts'
		? { kind, maxCharacters }
		: { kind: 'join', maxCharacters, pauseMs: fields.number(pauseOption) };
}

export function requestText({ body }: CreationRequest): string {
	return typeof body.text === 'string' ? body.text : '';
}

/** Splits a request's text into the texts to send. */
export function* textsOf(request: CreationRequest, longText: LongText): Work<string[]> {
	const text = requestText(request);
	if (longText.kind === 'off') return [text];
	if (text.trim() === '')
		throw invalid(
			"The field 'Text' contains no text to speak",
			"Fill in 'Text'. If it is an expression, check that this item has a value for it. Nothing was sent.",
		);
	const format = asText(request.qs?.output_format ?? request.body.output_format) ?? '';
	if (longText.kind === 'join' && /^(opus|pcm|(u|mu|a)-?law)/i.test(format))
		throw invalid(
			`Audio in the format "${quote(format, 40) ?? ''}" can't be joined`,
			"Set 'Output Format' to MP3 or WAV, or 'Long Text' to One Item per Part. Nothing was sent.",
		);
	return yield* splitText(text, longText.maxCharacters);
}

export function requestsFor(request: CreationRequest, texts: readonly string[]): CreationRequest[] {
	return texts.map((text) => ({ ...request, body: { ...request.body, text } }));
}
