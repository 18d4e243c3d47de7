/** Some of the random histories of test/model, always the same, and those that have found something: after each the three rules hold. */
import fc from 'fast-check';
import { found } from '../model/found';
import { histories, PLAIN_HISTORY } from '../model/history';
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

test.each(found)('%s', async (_, history) => {
	const { broken } = await play({ ...PLAIN_HISTORY, ...history }, [PROCESS]);
	expect(broken).toEqual([]);
});
