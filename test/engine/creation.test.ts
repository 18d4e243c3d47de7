/** Creations: what is unclear is never sent again, and what was sent gets its time. */
import tls, { type SecureContextOptions } from 'node:tls';
import { certificate, startTlsTrap, type TlsTrap } from '../service/tlsTrap';
import { again, engineSetting, goOn, sound } from './setting';

const setting = engineSetting();

/** Makes HTTPS clients of this process trust one more certificate, as NODE_EXTRA_CA_CERTS does. @returns undoes it */
function trust(pem: string): () => void {
	const before = tls.createSecureContext;
	tls.createSecureContext = (options?: SecureContextOptions) => {
		const context = before(options);
		(context.context as { addCACert(pem: string): void }).addCACert(pem);
		return context;
	};
	return () => void (tls.createSecureContext = before);
}

describe('a connection that was never made', () => {
	const parameters = { ...sound(), downloadOutput: false, options: { timeout: 5 } };
	let trap: TlsTrap;

	beforeEach(async () => {
		trap = await startTlsTrap();
	});
	afterEach(async () => await trap.close());

	test('an edge that answers in plain text, after the request was taken: the task may exist, and no try sends it again', async () => {
		const distrust = trust(certificate);
		const credentials = { baseUrl: trap.baseUrl };
		const { error } = await setting.run({ parameters, settings: again, credentials });
		distrust();
		// The account's list of tasks may be read, but nothing is created again.
		expect(trap.taken.filter((body) => body !== '')).toHaveLength(1);
		expect(error?.message).toMatch(/the task may exist/);
		expect(error?.description).not.toMatch(/nothing was paid/);
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
});
