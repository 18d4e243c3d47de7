/** Explains refusals by the service: names the fields on screen, and points at a text that is too long for one request. */
import type { Failure } from '../base/failures';
import { requestText, type LongText } from './longText';
import type { CreationRequest } from './operation';

const ON_SCREEN: ReadonlyArray<[name: string, label: string]> = [
	['voice_id', '"Voice"'],
	['model_id', '"Model"'],
	['generations_count', '"Number of Images"'],
	['aspect_ratio', '"Aspect Ratio"'],
	['model_parameters', '"Aspect Ratio" or "Resolution"'],
	['output_format', '"Output Format"'],
	['with_transcript', '"Captions and Word Timings"'],
	['receive_url', '"Callback URL"'],
	['assets', '"Reference Images"'],
	['task_ids', '"Task ID"'],
];
/** Some services take this many characters in one request, and no more. */
export const LONG_TEXT = 5_000;

/** Tells whether a text is sent to be spoken as it is, although it is longer than many services take. */
export function isLongUnsplit(request: CreationRequest, longText: Pick<LongText, 'kind'>): boolean {
	const isSpeech = request.kind.startsWith('speech');
	return isSpeech && longText.kind === 'off' && requestText(request).length > LONG_TEXT;
}

function namesOnScreen(said: string): string {
	const named = ON_SCREEN.filter(([name]) => new RegExp(`\\b${name}\\b`).test(said));
	return named.map(([name, label]) => ` "${name}" is the field ${label} of this node.`).join('');
}

/** Explains that the service has refused a question that creates nothing, such as a price, for one of its fields. */
export function refusedQuestion(failure: Failure): Failure {
	const { httpStatus, message } = failure;
	const names = namesOnScreen(message);
	if (names === '' || (httpStatus !== 400 && httpStatus !== 422)) return failure;
	const description = `Correct the fields that the message names. Nothing was changed.${names}`;
	return { ...failure, outcome: 'rejected', description };
}

/** Makes sentences to add to a refusal's description. @param said the words of the service */
export function adviceOn(said: string, request: CreationRequest, longText: LongText): string {
	// The fields of "Task: Create" have the names of the request.
	const isPlain = request.kind.startsWith('/');
	const names = isPlain ? '' : namesOnScreen(said);
	const length = isLongUnsplit(request, longText)
		? ` The text has ${requestText(request).length} characters: the field "Long Text" splits it into several requests.`
		: '';
	return names + length;
}
