import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { root } from '../../scripts/pack';
import type { Editor } from './harness/editor';
import { openWindow } from './harness/window';

const page = readFileSync(join(root, 'docs', 'fields.md'), 'utf8');
const [, common = '', actions = ''] = page.split(/^## .*$/m);
const operations = actions.split(/^### /m).slice(1);

interface Row {
	onScreen: string;
	name: string;
	isAlways: boolean;
}

/** The fields of a list, without the options in it. */
function rowsIn(list: string): Row[] {
	return [...list.matchAll(/^- \*\*(.+?)\*\* `(\w+)`(.*)$/gm)].map(
		([, onScreen = '', name = '', about = '']) => {
			return { onScreen, name, isAlways: !/ Shown /.test(about) };
		},
	);
}

/** The fields that a reviewer reads in docs/fields.md, in the same order in the editor. */
void describe('fields', () => {
	let editor: Editor;
	let chosen = '';
	openWindow(async (window) => {
		({ editor } = window);
		await editor.newWorkflow();
		await editor.addManualTrigger();
		await editor.addNode('image generation', 'Generate image');
	});

	for (const section of operations) {
		const [title = ''] = section.split('\n');
		const [, names = ''] = /^\[Common\]\(.*?\): (.*)\.$/m.exec(section) ?? [];
		const shared = rowsIn(common).filter(({ onScreen }) => names.split(', ').includes(onScreen));
		const rows = [...rowsIn(section), ...shared];
		void it(title, async () => {
			const [resource = '', operation = ''] = title.split(': ');
			if (resource !== chosen) await editor.choose('resource', resource);
			chosen = resource;
			await editor.choose('operation', operation);
			const always = rows.filter(({ isAlways }) => isAlways).map(({ name }) => name);
			for (const name of always) await editor.parameter(name).first().waitFor();
			const ids = await editor
				.byId('node-parameters')
				.locator('[data-test-id^="parameter-input-"]:visible')
				.evaluateAll((inputs) => inputs.map((input) => input.getAttribute('data-test-id')));
			const onScreen = ids.map((id) => id?.replace('parameter-input-', ''));
			const listed = rows.map(({ name }) => name).filter((name) => onScreen.includes(name));
			const others = ['resource', 'operation', 'options', 'filters', 'field'];
			const shown = [...new Set(onScreen)].filter((name = '') => !others.includes(name));
			assert.deepEqual(shown, listed);
		});
	}
});
