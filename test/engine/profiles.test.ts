/** The suites for which it matters what service it is, once more with the services of today. */
import { join } from 'node:path';
import { useProfile } from './setting';

useProfile('today');

const suites = [
	'agentTool',
	'creation',
	'deliveryTrouble',
	'key',
	'operations',
	'retryPaysOnce',
	'stop',
	'waiting',
];

describe.each(suites)('%s', (suite) => void jest.requireActual(join(__dirname, `${suite}.test`)));
