/** What random histories have found does not come back. */
import { found } from './found';
import { PLAIN_HISTORY } from './history';
import { play } from './play';
import { loadProcesses } from './processes';

const processes = loadProcesses();

test.each(Object.entries(found))('%s', async (_, history) => {
	const { broken } = await play({ ...PLAIN_HISTORY, ...history }, processes);
	expect(broken).toEqual([]);
});
