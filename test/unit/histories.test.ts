/** A few of the random histories of test/model, always the same: after each the three rules hold. */
import fc from 'fast-check';
import { histories } from '../model/history';
import { play } from '../model/play';
import { PROCESS } from './wholeNode';

const HISTORIES = 40;

test.each(
	fc
		.sample(histories, { seed: 1, numRuns: HISTORIES })
		.map((history, index) => ({ index, history })),
)('history $index', async ({ history }) => {
	const { broken } = await play(history, [PROCESS]);
	expect(broken).toEqual([]);
});
