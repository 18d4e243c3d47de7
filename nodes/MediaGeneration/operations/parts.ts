/**
 * From one request with a long text to one request for each of its parts. Pure.
 */
import { splitText } from '../media/split';
import { invalid } from '../service/failures';
import type { LongText } from './longText';
import type { CreationRequest } from './operation';

/** The text of a speech request. */
export function textOf({ body }: CreationRequest): string {
	return typeof body.text === 'string' ? body.text : '';
}

/** The texts that a request's text is sent as. Throws an `invalid` failure for a text without anything to speak. */
export function textsOf(request: CreationRequest, longText: LongText): string[] {
	const text = textOf(request);
	if (longText.kind === 'off') return [text];
	if (text.trim() === '')
		throw invalid(
			'The field "Text" has nothing to speak',
			'Fill in "Text". If it is an expression, check that this item has a value for it. Nothing was sent.',
		);
	return splitText(text, longText.maxCharacters);
}

/** One request for each text, all else being equal. */
export function requestsFor(request: CreationRequest, texts: readonly string[]): CreationRequest[] {
	return texts.map((text) => ({ ...request, body: { ...request.body, text } }));
}
