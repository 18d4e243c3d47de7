/** SECURITY.md, "Threat model": a run uses one account, whatever a credential with expressions resolves to for each item. */
import { engineSetting, goOn, sound } from './setting';

const setting = engineSetting();

describe('a credential whose fields are expressions', () => {
	const OTHER = "={{ $json.tenant === 'b' ? 'sk_of_another_tenant' : '";
	const credentials = () => ({ apiKey: `${OTHER}${setting.service.apiKey}' }}` });
	const items = ['a', 'b', 'a'].map((tenant) => ({ tenant }));
	const refused = {
		outcome: 'invalid',
		error: 'The credential of this item is for another account than that of the first item',
	};

	it('serves the account of the first item, and nothing is sent for others', async () => {
		const { output } = await setting.run({
			parameters: { ...sound('Rain'), downloadOutput: false },
			settings: goOn,
			items,
			credentials: credentials(),
		});
		expect(output.map(({ json }) => json)).toMatchObject([
			{ status: 'done' },
			refused,
			{ status: 'done' },
		]);
		expect(setting.attempts()).toBe(2);
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
