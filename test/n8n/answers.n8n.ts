import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { examplesOf, type CreationExample } from '../answers';
import { inSharedContext, type TestContext } from './harness/context';
import { items } from './harness/execution';
import { action, listed, soundEffect, start } from './harness/nodes';

/** Each ends within seconds: one that asks for a pause would hold back the others, which share the account. */
const CREATIONS = [
	...['plain', 'wrapped', 'number', 'code-200-and-data'],
	...['code-402-and-msg', 'code-422-as-a-text', 'status-error', 'error-as-a-text'],
	...['cdn-403-page', 'edge-401-page', 'html-in-words', 'json-in-words', 'daily-cap'],
	...['400-with-an-id', 'empty-200'],
	...['code-500-inside-200', 'page-200'],
];
const OUTCOME = { created: undefined, refused: 'rejected', later: 'rejected', unclear: 'unknown' };

describe('answers', () => {
	let context: TestContext;
	inSharedContext((shared) => (context = shared));

	/** Generates once for each example, which the stand-in plays; the items come out in that order. */
	async function outputs() {
		const extraFields = `={{ ({ stand_in: { answer: "creation/" + $json.list } }) }}`;
		const fields = {
			...soundEffect,
			text: '={{ "Rain " + $json.list }}',
			waitForCompletion: false,
		};
		const nodes = [
			...[start(), ...listed(CREATIONS, 'Example')],
			action(
				{ ...fields, options: { timeout: 12, extraFields } },
				{ onError: 'continueRegularOutput' },
			),
		];
		const execution = await context.rest.run(await context.save(nodes), 'Start');
		return items(execution, 'Generate').map(({ json }) => json);
	}

	it('to creations mean what is written beside them', async () => {
		const examples = new Map(examplesOf<CreationExample>('creation'));
		const json = await outputs();
		assert.equal(json.length, CREATIONS.length);
		for (const [index, name] of CREATIONS.entries()) {
			const { means, says = [] } = examples.get(name)?.meaning ?? assert.fail(name);
			const { outcome, error, description } = json[index] ?? {};
			assert.equal(outcome, OUTCOME[means], `${name}: ${String(error)}`);
			const words = `${String(error)} ${String(description)}`;
			for (const part of says) assert.ok(words.includes(part), `${name}: ${words}`);
		}
	});
});
