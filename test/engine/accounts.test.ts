/** SECURITY.md, "Threat model": a run uses one account, so a credential that depends on the item is for runs of one item. */
import { engineSetting, goOn, sound } from './setting';

const setting = engineSetting();

describe('a credential whose fields are expressions', () => {
	const OTHER = "={{ $json.tenant === 'b' ? 'sk_of_another_tenant' : '";
	const credentials = () => ({ apiKey: `${OTHER}${setting.service.apiKey}' }}` });
	const run = async (tenants: string[], parameters: object, given = credentials()) =>
		await setting.run({
			parameters: { ...sound('Rain'), downloadOutput: false, ...parameters },
			settings: goOn,
			items: tenants.map((tenant) => ({ tenant })),
			credentials: given,
		});

	it.each([{}, { resource: 'credits', operation: 'get' }])(
		'is refused for several items, before anything is sent: %j',
		async (parameters) => {
			const { output } = await run(['a', 'b'], parameters);
			const refused = {
				outcome: 'invalid',
				error: expect.stringMatching(/^The credential's fields depend on the item/) as string,
				description: expect.stringMatching(/Loop Over Items/) as string,
			};
			expect(output.map(({ json }) => json)).toMatchObject([refused, refused]);
			expect(setting.attempts()).toBe(0);
		},
	);

	it('serves the account of the only item, and of several items if it depends on none', async () => {
		const { output } = await run(['a'], {});
		expect(output.map(({ json }) => json)).toMatchObject([{ status: 'done' }]);
		const ofNone = { apiKey: `={{ '${setting.service.apiKey}' }}` };
		expect((await run(['a', 'b'], {}, ofNone)).output).toHaveLength(2);
		expect(setting.attempts()).toBe(3);
	});

	it.each([
		['another key', credentials],
		['another header', () => ({ keyHeader: '={{ $json.header }}' })],
	])('can not be suspended for %s: a woken execution has no items', async (_, given) => {
		const { error } = await setting.run({
			parameters: { ...sound('Rain'), waitMode: 'callback' },
			credentials: given(),
		});
		expect(error?.message).toMatch(/credential whose fields depend on the items/);
		expect(setting.attempts()).toBe(0);
	});
});
