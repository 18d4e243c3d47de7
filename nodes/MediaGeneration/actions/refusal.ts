/** Explains refusals by the service: names the fields on screen, and points at a text that is too long for one request. */
import type { Failure } from '../base/outcomes';
import { requestText, type LongText } from './longText';
import type { CreationRequest, Labels } from '../answers/request';
import type { ItemSettings } from './waiting';

/** Some services take this many characters in one request, and no more. */
export const LONG_TEXT = 5_000;

/** Whether a text is sent unsplit although it is longer than many services take. */
export function isLongUnsplit(request: CreationRequest, longText: Pick<LongText, 'kind'>): boolean {
	const isSpeech = request.kind.startsWith('speech');
	return isSpeech && longText.kind === 'off' && requestText(request).length > LONG_TEXT;
}

function namesOnScreen(said: string, labels: Labels): string {
	const named = Object.entries(labels).filter(([name]) => new RegExp(`\\b${name}\\b`).test(said));
	const quoted = (label: Labels[string]) => [label].flat().map((each) => `'${each}'`);
	return named
		.map(([name, label]) => ` "${name}" is the field ${quoted(label).join(' or ')} of this node.`)
		.join('');
}

/** Explains the refusal of a question that creates nothing, such as a price, if it is about one of the fields. */
export function refusedQuestion(failure: Failure, labels: Labels): Failure {
	const { httpStatus, message } = failure;
	const names = namesOnScreen(message, labels);
	if (names === '' || (httpStatus !== 400 && httpStatus !== 422)) return failure;
	const description = `Correct the fields that the message names. Nothing was changed.${names}`;
	return { ...failure, outcome: 'rejected', description };
}

/** Names an operation that the service does not have. Undefined if the refusal may have another reason. */
export function missingOperation(
	{ outcome, httpStatus = 0, message }: Failure,
	{ optional }: CreationRequest,
): string | undefined {
	const isMissing = outcome === 'rejected' && [404, 405, 501].includes(httpStatus);
	return isMissing && optional !== undefined
		? `The service has no '${optional}', or your key may not use it (${message})`
		: undefined;
}

/** Makes sentences to add to a refusal's description. @param said the words of the service */
export function adviceOn(
	said: string,
	request: CreationRequest,
	{ longText, waiting }: Pick<ItemSettings, 'longText' | 'waiting'>,
): string {
	const callback: Labels = waiting.kind === 'no' ? { receive_url: 'Callback URL' } : {};
	const names = namesOnScreen(said, { ...request.labels, ...callback });
	const length = isLongUnsplit(request, longText)
		? ` The text has ${requestText(request).length} characters: 'Long Text' splits it into several requests.`
		: '';
	return names + length;
}
