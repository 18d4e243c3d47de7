/** Pictures for the documentation: kept only with `npm run test:browser -- --pictures`, so that a test run changes no file. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Locator, Page, PageScreenshotOptions } from 'playwright-core';
import type { Editor } from './editor';

const root = join(__dirname, '..', '..', '..');
const maxBytes = 150_000;

const takesPictures = process.env.MEDIA_GENERATION_PICTURES === '1';

function keep(bytes: Buffer, name: string, folder = join('docs', 'images')): void {
	assert.ok(bytes.length < maxBytes, `${name}.png has ${bytes.length} bytes`);
	if (!takesPictures) return;
	const file = join(root, folder, `${name}.png`);
	mkdirSync(dirname(file), { recursive: true });
	writeFileSync(file, bytes);
}

/** n8n's messages in the corner come and go, and lie over what the picture is about. */
const messages = '.el-notification { visibility: hidden !important; }';
const still = {
	animations: 'disabled',
	caret: 'hide',
	style: messages,
} satisfies PageScreenshotOptions;

/** A picture of the page or of a part of it in both themes: `docs/images/NAME-light.png` and `NAME-dark.png`. */
export async function picture(
	editor: Editor,
	name: string,
	of: Page | Locator = editor.page,
): Promise<void> {
	for (const theme of ['dark', 'light'] as const) {
		await editor.useTheme(theme);
		keep(await of.screenshot(still), `${name}-${theme}`);
	}
}

/** What lies over the canvas: buttons, tabs and handles that would hide a part of the workflow. */
const overCanvas = [
	'.vue-flow__panel',
	'[class*="nodeButtonsWrapper"]',
	'[data-test-id^="radio-button-"]',
	'[data-test-id^="execute-workflow-button"]',
	'[data-test-id="canvas-node-toolbar"]',
]
	.map((selector) => `${selector} { visibility: hidden !important; }`)
	.concat(messages)
	.join('\n');
/** The words below a node are not part of its box, and may be wider. */
const margin = { side: 60, top: 24, bottom: 64 };

/** A picture of all nodes and notes of the open workflow, and nothing else, as `examples/images/NAME.png`. */
export async function canvasPicture({ page }: Editor, name: string): Promise<void> {
	const boxes = await page.locator('.vue-flow__node').evaluateAll((nodes) =>
		nodes.map((node) => {
			const { left, top, right, bottom } = node.getBoundingClientRect();
			return { left, top, right, bottom };
		}),
	);
	const x = Math.max(0, Math.min(...boxes.map(({ left }) => left)) - margin.side);
	const y = Math.max(0, Math.min(...boxes.map(({ top }) => top)) - margin.top);
	const right = Math.max(...boxes.map((box) => box.right)) + margin.side;
	const bottom = Math.max(...boxes.map((box) => box.bottom)) + margin.bottom;
	const clip = { x, y, width: right - x, height: bottom - y };
	keep(
		await page.screenshot({ ...still, clip, style: overCanvas }),
		name,
		join('examples', 'images'),
	);
}
