/** Pictures for the documentation: kept only with `npm run test:browser -- --pictures`, so that a test run changes no file. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Locator, PageScreenshotOptions } from 'playwright-core';
import type { Editor, Theme } from './editor';

const root = join(__dirname, '..', '..', '..');
const maxBytes = 300_000;
const themes = ['dark', 'light'] as const;

const takesPictures = process.env.MEDIA_GENERATION_PICTURES === '1';

function keep(bytes: Buffer, name: string, folder = join('docs', 'images')): void {
	assert.ok(bytes.length < maxBytes, `${name}.png has ${bytes.length} bytes`);
	if (!takesPictures) return;
	const file = join(root, folder, `${name}.png`);
	mkdirSync(dirname(file), { recursive: true });
	writeFileSync(file, bytes);
}

const hidden = (...selectors: string[]) =>
	selectors
		.map((selector) => `${selector}, ${selector} * { visibility: hidden !important; }`)
		.join('\n');
/** n8n's messages, tooltips and shortcuts to other nodes lie over what the picture is about. */
const messages = [
	hidden('.el-notification', '.el-popper', '[data-reka-popper-content-wrapper]'),
	hidden('[role="tooltip"]', '[class*="floatingNodes"]'),
].join('\n');
const still = {
	animations: 'disabled',
	caret: 'hide',
	style: messages,
} satisfies PageScreenshotOptions;

/** A part of the page in both themes. */
export type Shot = Record<Theme, Buffer>;

export interface Box {
	x: number;
	y: number;
	width: number;
	height: number;
}

export async function boxOf(locator: Locator): Promise<Box> {
	const box = await locator.first().boundingBox();
	assert.ok(box !== null, 'what the picture shows is on the page');
	return box;
}

export async function shot(editor: Editor, clip: Box, style = messages): Promise<Shot> {
	const take = async (theme: Theme) => {
		await editor.useTheme(theme);
		return await editor.page.screenshot({ ...still, clip, style });
	};
	return { dark: await take('dark'), light: await take('light') };
}

interface Strip {
	/** Whose width it has. */
	pane: Locator;
	from: Locator;
	to: Locator;
	/** Pixels around these. */
	above?: number;
	below?: number;
	beside?: number;
}

/** What the page shows from one element to another, as wide as a third one. */
export async function strip(
	editor: Editor,
	{ pane, from, to, above = 12, below = 12, beside = 0 }: Strip,
): Promise<Shot> {
	const [{ x, width }, first, last] = [await boxOf(pane), await boxOf(from), await boxOf(to)];
	const y = first.y - above;
	const height = last.y + last.height + below - y;
	return await shot(editor, { x: x - beside, y, width: width + 2 * beside, height });
}

/** Keeps shots as one picture, one below the other, each in its own size: `docs/images/NAME-light.png` and `NAME-dark.png`. */
export async function picture(editor: Editor, name: string, ...shots: Shot[]): Promise<void> {
	for (const theme of themes) {
		const parts = shots.map((both) => both[theme]);
		const [first, ...more] = parts;
		assert.ok(first !== undefined);
		keep(more.length === 0 ? first : await stack(editor, theme, parts), `${name}-${theme}`);
	}
}

async function stack(editor: Editor, theme: Theme, parts: readonly Buffer[]): Promise<Buffer> {
	const page = await editor.page.context().newPage();
	const [background, line] = theme === 'dark' ? ['#1f1f1f', '#444'] : ['#fff', '#ddd'];
	const images = parts.map(
		(part) => `<img src="data:image/png;base64,${part.toString('base64')}">`,
	);
	await page.setContent(
		`<style>body { margin: 0 } div { display: inline-flex; flex-direction: column; align-items: flex-start; gap: 8px; background: ${background} }
		img { box-sizing: border-box; border: 1px solid ${line}; border-radius: 6px }</style><div>${images.join('')}</div>`,
	);
	const bytes = await page.locator('div').screenshot();
	await page.close();
	return bytes;
}

/** What lies over the canvas: buttons, tabs and handles that would hide a part of the workflow. */
const overCanvas = [
	messages,
	hidden('.vue-flow__panel', '[class*="nodeButtonsWrapper"]', '[class*="executionButtons"]'),
	hidden('[data-test-id^="radio-button-"]', '[data-test-id="canvas-node-toolbar"]'),
].join('\n');
/** The words below a node are not part of its box, and may be wider. */
const margin = { left: 60, right: 140, top: 24, bottom: 64 };

/** All nodes and notes of the open workflow, and nothing else. */
export async function canvasShot(editor: Editor): Promise<Shot> {
	await editor.byId('zoom-to-fit').click();
	await editor.settled();
	// Zoomed to a fraction, the browser cuts lines of the notes.
	const reset = editor.byId('reset-zoom-button');
	if (await reset.isVisible()) await reset.click();
	await editor.settled();
	const boxes = await editor.page.locator('.vue-flow__node').evaluateAll((nodes) =>
		nodes.map((node) => {
			const { left, top, right, bottom } = node.getBoundingClientRect();
			return { left, top, right, bottom };
		}),
	);
	const x = Math.min(...boxes.map(({ left }) => left)) - margin.left;
	const y = Math.min(...boxes.map(({ top }) => top)) - margin.top;
	const right = Math.max(...boxes.map((box) => box.right)) + margin.right;
	const bottom = Math.max(...boxes.map((box) => box.bottom)) + margin.bottom;
	const { width = 0, height = 0 } = editor.page.viewportSize() ?? {};
	assert.ok(
		x >= 0 && y >= 0 && right <= width && bottom <= height,
		'the whole workflow is in the window',
	);
	return await shot(editor, { x, y, width: right - x, height: bottom - y }, overCanvas);
}

/** A picture of the open workflow, as `examples/images/NAME.png`. */
export async function canvasPicture(editor: Editor, name: string): Promise<void> {
	keep((await canvasShot(editor)).light, name, join('examples', 'images'));
}
