/** Guards beside the examples of test/answers: whatever an answer to a creation looks like, a task that it names is not lost. */
import fc from 'fast-check';
import { readJson } from '../../nodes/MediaGeneration/base/bounded';
import { readCreation } from '../../nodes/MediaGeneration/answers/creation';
import type { Answer } from '../../nodes/MediaGeneration/answers/reply';
import { RAIN } from '../support/replies';
import { anyCodePoint } from './codePoint';

const ID = '7f9c2ba4-e88f';
const WHOLE = JSON.stringify({ success: true, task_id: ID, ec_remain_credits: 5, note: '"\\ü' });
/** As the door makes it. */
const answerOf = (text: string, status = 200): Answer => ({
	...{ answered: true, status, headers: {}, text },
	...readJson(text),
});

/** Something else stands in one place, or nothing. */
const changed = fc
	.tuple(fc.nat(WHOLE.length), fc.nat(8), fc.string({ unit: anyCodePoint, maxLength: 6 }))
	.map(([at, cut, insert]) => WHOLE.slice(0, at) + insert + WHOLE.slice(at + cut));

test('a changed creation is created or unclear as long as an ID stands in it', () => {
	fc.assert(
		fc.property(changed, (text) => {
			const { kind } = readCreation(answerOf(text), RAIN);
			if (text.includes(`"task_id":"${ID}"`)) expect(['created', 'unclear']).toContain(kind);
		}),
	);
});
