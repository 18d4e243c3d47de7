/** The package as it is published, and the names that saved workflows carry. More is in ESLint's community rules. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MediaGenerationApi } from '../../credentials/MediaGenerationApi.credentials';
import { MediaGeneration } from '../../nodes/MediaGeneration/MediaGeneration.node';
import { MediaGenerationTrigger } from '../../nodes/MediaGeneration/MediaGenerationTrigger.node';

interface Manifest {
	files: string[];
	n8n: { n8nNodesApiVersion: number; credentials: string[]; nodes: string[] };
}
const root = join(__dirname, '../..');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest;

test('only what is built is published, and what n8n loads has a source', () => {
	expect(manifest.files).toEqual(['dist']);
	expect(manifest.n8n.n8nNodesApiVersion).toBe(1);
	expect(manifest.n8n.credentials).toHaveLength(1);
	expect(manifest.n8n.nodes).toHaveLength(2);
	for (const built of [...manifest.n8n.credentials, ...manifest.n8n.nodes]) {
		const source = built.replace(/^dist\//, '').replace(/\.js$/, '.ts');
		expect({ source, there: existsSync(join(root, source)) }).toEqual({ source, there: true });
	}
});

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
			'callbackSecret',
			'keyHeader',
		]);
		expect(credential.test.request.url).toBe('/v1/credits');
		expect(action.usableAsTool).toBe(true);
		expect(trigger.usableAsTool).toBeUndefined();
	});

	test('the base URL is not invented', () => {
		const baseUrl = credential.properties.find(({ name }) => name === 'baseUrl');
		expect(baseUrl).toMatchObject({ required: true, default: '' });
	});
});
