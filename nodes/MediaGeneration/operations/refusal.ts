/** What a refusal by the service means on screen: the names of its fields in the node, and a text that is too long for one request. */
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
];
/** Characters that some services take in one request, and no more. */
export const LONG_TEXT = 5_000;

/** Whether a text is sent to be spoken as it is, although it is longer than many services take. */
export function isLongUnsplit(request: CreationRequest, longText: Pick<LongText, 'kind'>): boolean {
	const isSpeech = request.kind.startsWith('speech');
	return isSpeech && longText.kind === 'off' && requestText(request).length > LONG_TEXT;
}

/** Sentences to add to a refusal's description. @param said the words of the service */
export function adviceOn(said: string, request: CreationRequest, longText: LongText): string {
	// The fields of "Task: Create" have the names of the request.
	const isPlain = request.kind.startsWith('/');
	const named = ON_SCREEN.filter(([name]) => !isPlain && new RegExp(`\\b${name}\\b`).test(said));
	const names = named.map(([name, label]) => ` "${name}" is the field ${label} of this node.`);
	const length = isLongUnsplit(request, longText)
		? ` The text has ${requestText(request).length} characters: the field "Long Text" splits it into several requests.`
		: '';
	return names.join('') + length;
}
