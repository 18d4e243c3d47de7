import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { examplesOf, type CreationExample, type TaskExample } from '../answers';
import { inSharedContext, type TestContext } from './harness/context';
import { items } from './harness/execution';
import { action, type Link, listed, soundEffect, start } from './harness/nodes';

/** Each ends within seconds: one that asks for a pause would hold back the others, which share the account. */
const CREATIONS = [
	...['plain', 'wrapped', 'number', 'code-200-and-data'],
	...['code-402-and-msg', 'code-422-as-a-text', 'status-error', 'error-as-a-text'],
	...['cdn-403-page', 'edge-401-page', 'html-in-words', 'json-in-words', 'daily-cap'],
	...['400-with-an-id', 'empty-200'],
	...['code-500-inside-200', 'page-200'],
];
const TASKS = [
	...['wrapped', 'envelope-with-status-and-id', 'text-of-speech-to-text', 'signed-twins'],
	...['images-as-a-list', 'metadata-as-json-text', 'music-clips', 'json-in-the-error'],
];
const OUTCOME = { created: undefined, refused: 'rejected', later: 'rejected', unclear: 'unknown' };

describe('answers', () => {
	let context: TestContext;
	inSharedContext((shared) => (context = shared));

	/** Generates once for each example, which the stand-in plays; the items come out in that order. */
	async function outputsOf(kind: string, names: string[], fields: object) {
		const nodes = [
			...[start(), ...listed(names, 'Example')],
			action(
				{
					...{ ...soundEffect, text: '={{ "Rain " + $json.list }}', downloadOutput: false },
					...fields,
					options: {
						timeout: 12,
						extraFields: `={{ ({ stand_in: { answer: "${kind}/" + $json.list } }) }}`,
					},
				},
				{ onError: 'continueRegularOutput' },
			),
		];
		const links: Link[] = [
			['Start', 'List'],
			['List', 'Example'],
			['Example', 'Generate'],
		];
		const execution = await context.rest.run(await context.save(nodes, links), 'Start');
		return items(execution, 'Generate').map(({ json }) => json);
	}

	it('to creations mean what is written beside them', async () => {
		const examples = new Map(examplesOf<CreationExample>('creation'));
		const json = await outputsOf('creation', CREATIONS, { waitForCompletion: false });
		assert.equal(json.length, CREATIONS.length);
		for (const [index, name] of CREATIONS.entries()) {
			const { means, says = [] } = examples.get(name)?.meaning ?? assert.fail(name);
			const { outcome, error, description } = json[index] ?? {};
			assert.equal(outcome, OUTCOME[means], `${name}: ${String(error)}`);
			const words = `${String(error)} ${String(description)}`;
			for (const part of says) assert.ok(words.includes(part), `${name}: ${words}`);
		}
	});

	it('to polls mean what is written beside them', async () => {
		const examples = new Map(examplesOf<TaskExample>('task'));
		const json = await outputsOf('task', TASKS, {
			...{ resource: 'task', operation: 'create', path: '/v1/task/sound-effect' },
			body: '={{ ({ text: "Rain " + $json.list, stand_in: { answer: "task/" + $json.list } }) }}',
		});
		assert.equal(json.length, TASKS.length);
		for (const [index, name] of TASKS.entries()) {
			const { means, files, says = [] } = examples.get(name)?.meaning ?? assert.fail(name);
			const { outcome, error, outputs } = json[index] ?? {};
			assert.equal(outcome, means === 'failed' ? 'failed' : undefined, `${name}: ${String(error)}`);
			const found = (outputs ?? []) as Array<{ url: string; kind: string }>;
			if (files !== undefined)
				assert.deepEqual(
					found.map(({ url, kind }) => `${url} ${kind}`),
					files,
					name,
				);
			for (const part of says.map((each) => each.replace('Task t1 ', '')))
				assert.ok(String(error).includes(part), `${name}: ${String(error)}`);
		}
	});
});
