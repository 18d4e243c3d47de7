import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inSharedContext, type TestContext } from './harness/context';
import { fetch } from './harness/http';

const operations = [
	'speech/generateByVoiceId',
	'speech/generateByVoiceName',
	'soundEffect/generate',
	'image/generate',
	'task/create',
	'task/get',
	'task/wait',
];

interface Schema {
	type: string;
	properties: Record<string, { type: string; items?: { properties: Record<string, unknown> } }>;
}

/** The editor asks for these to offer the node's output fields before its first run. */
describe('schema previews', () => {
	let context: TestContext;
	inSharedContext((shared) => (context = shared));

	for (const operation of operations) {
		it(`has one for ${operation}`, async () => {
			const node = 'n8n-nodes-media-generation.mediaGeneration';
			const address = `${context.n8n.baseUrl}/schemas/${node}/1.0.0/${operation}.json`;
			const response = await fetch(address);
			assert.equal(response.status, 200);
			const { type, properties } = (await response.json()) as Schema;
			assert.equal(type, 'object');
			for (const name of ['task_id', 'status', 'outputs', 'metadata'])
				assert.ok(properties[name], name);
			assert.ok(properties.outputs?.items?.properties.url);
		});
	}
});
