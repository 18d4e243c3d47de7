import type { Work } from '../../nodes/MediaGeneration/base/work';

/** Does work without a break. */
export function atOnce<T>(work: Work<T>): T {
	let step = work.next();
	while (step.done !== true) step = work.next();
	return step.value;
}
