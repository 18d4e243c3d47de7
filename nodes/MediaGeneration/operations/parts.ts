/**
 * From one request with a long text to one request for each of its parts. Pure.
 */
import { firstSentences, lastSentences, splitText } from '../media/split';
import type { Work } from '../service/clock';
import { invalid } from '../service/failures';
import type { LongText } from './longText';
import type { CreationRequest } from './operation';

/** The text of a speech request. */
export function textOf({ body }: CreationRequest): string {
	return typeof body.text === 'string' ? body.text : '';
}

/** The texts that a request's text is sent as. Throws an `invalid` failure for a text without anything to speak. */
export function* textsOf(request: CreationRequest, longText: LongText): Work<string[]> {
	const text = textOf(request);
	if (longText.kind === 'off') return [text];
	if (text.trim() === '')
		throw invalid(
			'The field "Text" has nothing to speak',
			'Fill in "Text". If it is an expression, check that this item has a value for it. Nothing was sent.',
		);
	return yield* splitText(text, longText.maxCharacters);
}

/** The longest context that is sent with a part, in characters. */
const CONTEXT_CHARACTERS = 500;

/**
 * One request for each text, all else being equal.
 *
 * @param withContext whether each one also has the sentences before and after its text
 */
export function requestsFor(
	request: CreationRequest,
	texts: readonly string[],
	withContext: boolean,
): CreationRequest[] {
	const contextOf = (before: string | undefined, after: string | undefined) => ({
		...(before === undefined ? {} : { previous_text: lastSentences(before, CONTEXT_CHARACTERS) }),
		...(after === undefined ? {} : { next_text: firstSentences(after, CONTEXT_CHARACTERS) }),
	});
	return texts.map((text, index) => {
		const context = withContext ? contextOf(texts[index - 1], texts[index + 1]) : {};
		return { ...request, body: { ...request.body, text, ...context } };
	});
}
