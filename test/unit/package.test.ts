/** The package as it is published: names that saved workflows carry (CONTRIBUTING.md, "Versioning"), and what n8n demands of community packages. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MediaGenerationApi } from '../../credentials/MediaGenerationApi.credentials';
import { MediaGeneration } from '../../nodes/MediaGeneration/MediaGeneration.node';
import { MediaGenerationTrigger } from '../../nodes/MediaGeneration/MediaGenerationTrigger.node';

interface Manifest {
	name: string;
	license: string;
	keywords: string[];
	author: { name: string; email: string };
	files: string[];
	scripts: Record<string, string>;
	dependencies?: Record<string, string>;
	peerDependencies: Record<string, string>;
	overrides?: unknown;
	n8n: { n8nNodesApiVersion: number; credentials: string[]; nodes: string[] };
}
const root = join(__dirname, '../..');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest;

test('its name, licence, keyword and author', () => {
	expect(manifest.name).toBe('n8n-nodes-media-generation');
	expect(manifest.license).toBe('MIT');
	expect(manifest.keywords).toContain('n8n-community-node-package');
	expect(manifest.author.name).not.toBe('');
	expect(manifest.author.email).toContain('@');
});

test('no runtime dependencies, one peer, no overrides', () => {
	expect(manifest.dependencies).toBeUndefined();
	expect(manifest.peerDependencies).toEqual({ 'n8n-workflow': '*' });
	expect(manifest.overrides).toBeUndefined();
});

test.each(['prepare', 'preinstall', 'install', 'postinstall', 'prepublish'])(
	'no script "%s"',
	(name) => {
		expect(Object.keys(manifest.scripts)).not.toContain(name);
	},
);

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

	test('secrets are passwords, and the base URL is not invented', () => {
		const byName = new Map(credential.properties.map((property) => [property.name, property]));
		expect(byName.get('apiKey')?.typeOptions).toMatchObject({ password: true });
		expect(byName.get('callbackSecret')?.typeOptions).toMatchObject({ password: true });
		expect(byName.get('baseUrl')).toMatchObject({ required: true, default: '' });
	});
});
