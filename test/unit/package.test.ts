/** The names that saved workflows carry. */
import { MediaGenerationApi } from '../../credentials/MediaGenerationApi.credentials';
import { MediaGeneration } from '../../nodes/MediaGeneration/MediaGeneration.node';
import { MediaGenerationTrigger } from '../../nodes/MediaGeneration/MediaGenerationTrigger.node';

describe('names in saved workflows', () => {
	const action = new MediaGeneration().description;
	const trigger = new MediaGenerationTrigger().description;
	const credential = new MediaGenerationApi();

	test('nodes and credential', () => {
		expect([action.name, action.displayName]).toEqual(['mediaGeneration', 'Media Generation']);
		expect([trigger.name, trigger.displayName]).toEqual([
			'mediaGenerationTrigger',
			'Media Generation Trigger',
		]);
		expect([credential.name, credential.displayName]).toEqual([
			'mediaGenerationApi',
			'Media Generation API',
		]);
		expect(credential.properties.map(({ name }) => name)).toEqual([
			'apiKey',
			'baseUrl',
			'allowHttp',
			'callbackSecret',
			'keyHeader',
		]);
		for (const { credentials } of [action, trigger])
			expect(credentials).toMatchObject([{ testedBy: 'mediaGenerationApiTest' }]);
		expect(action.usableAsTool).toBe(true);
		expect(trigger.usableAsTool).toBeUndefined();
	});

	test('the base URL is not invented', () => {
		const baseUrl = credential.properties.find(({ name }) => name === 'baseUrl');
		expect(baseUrl).toMatchObject({ required: true, default: '' });
	});
});
