/** Guards beside the examples of test/answers: whatever an answer to a creation looks like, a task that it names is not lost. */
import fc from 'fast-check';
import { readJson } from '../../nodes/MediaGeneration/base/bounded';
import { readCreation } from '../../nodes/MediaGeneration/answers/creation';
import type { Answer } from '../../nodes/MediaGeneration/answers/reply';
import { withoutOwnTexts } from '../../nodes/MediaGeneration/answers/ownTexts';
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

test('of what a request says, a refusal quotes no 12 characters that are left', () => {
	const signs = (most: number) =>
		fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 12, maxLength: most });
	fc.assert(
		fc.property(signs(80), fc.array(signs(200), { maxLength: 3 }), (words, own) => {
			const left = withoutOwnTexts(words, own).split(' ');
			for (const text of own)
				for (const part of left)
					for (let at = 0; at + 12 <= part.length; at += 1)
						expect(text).not.toContain(part.slice(at, at + 12));
		}),
	);
});
