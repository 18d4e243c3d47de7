/** A part of a long text that ended badly: which one it was, and what else of the item is paid for. */
import { quote, type Failure } from '../service/failures';

/** How much of a part's text its failure quotes, in characters. */
const QUOTED = 60;

/**
 * @param part its number from 0, the texts of all parts, and the IDs of the item's tasks as far as they are known
 */
export function failureOfPart(
	failure: Failure,
	{
		number,
		texts,
		taskIds,
	}: { number: number; texts: readonly string[]; taskIds: readonly string[] },
): Failure {
	if (texts.length < 2) return { ...failure, taskIds: [...taskIds] };
	const part = number + 1;
	const beginning = quote(texts[number], QUOTED) ?? '';
	return {
		...failure,
		message: `Part ${part} of ${texts.length} ("${beginning}"): ${failure.message}`,
		description: `${failure.description} The other parts are kept: Retry On Fail, and n8n's Retry, pay only for what failed.`,
		part,
		parts: texts.length,
		taskIds: [...taskIds],
	};
}
