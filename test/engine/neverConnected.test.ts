/** "Never connected", which allows a second try, is proved and not guessed: over real TLS. */
import { certificate, startTlsTrap, type TlsTrap } from '../service/tlsTrap';
import { again, engineSetting, goOn, sound } from './setting';
import { trust } from './trust';

const setting = engineSetting();
const parameters = { ...sound(), downloadOutput: false, options: { timeout: 5 } };
let trap: TlsTrap;

beforeEach(async () => {
	trap = await startTlsTrap();
});
afterEach(async () => await trap.close());

describe('an edge that answers in plain text, after the request was taken', () => {
	let distrust: () => void;
	beforeEach(() => {
		distrust = trust(certificate);
	});
	afterEach(() => distrust());

	test('the task may exist, and nothing is sent again', async () => {
		const { output } = await setting.run({
			parameters,
			settings: goOn,
			credentials: { baseUrl: trap.baseUrl },
		});
		expect(trap.taken).toHaveLength(1);
		expect(output[0]?.json.outcome).toBe('unknown');
		expect(output[0]?.json.error).toMatch(/the task may exist/);
	});

	test('nor by Retry On Fail', async () => {
		const { error } = await setting.run({
			parameters,
			settings: again,
			credentials: { baseUrl: trap.baseUrl },
		});
		expect(trap.taken).toHaveLength(1);
		expect(error?.message).toMatch(/the task may exist/);
		expect(error?.description).not.toMatch(/nothing was paid/);
	});
});

test('a certificate that is not trusted: nothing was sent, and nothing was paid', async () => {
	const { output, error } = await setting.run({
		parameters,
		settings: goOn,
		credentials: { baseUrl: trap.baseUrl },
	});
	expect(error).toBeUndefined();
	expect(trap.taken).toEqual([]);
	expect(output[0]?.json.outcome).toBe('rejected');
	expect(output[0]?.json.error).toMatch(/could not be reached: .*certificate/);
});
