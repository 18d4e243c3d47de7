/** Pictures for the documentation: kept only with `npm run test:browser -- --pictures`, so that a test run changes no file. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Locator, Page, PageScreenshotOptions } from 'playwright-core';
import type { Editor } from './editor';

const root = join(__dirname, '..', '..', '..');
const maxBytes = 300_000;

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
	await inBothThemes(editor, name, async () => await of.screenshot(still));
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
const margin = { left: 60, right: 110, top: 24, bottom: 64 };

/** A picture of all nodes and notes of the open workflow, and nothing else, as `examples/images/NAME.png`. */
export async function canvasPicture(editor: Editor, name: string): Promise<void> {
	keep(await canvasShot(editor), name, join('examples', 'images'));
}

async function canvasShot({ page }: Editor): Promise<Buffer> {
	const boxes = await page.locator('.vue-flow__node').evaluateAll((nodes) =>
		nodes.map((node) => {
			const { left, top, right, bottom } = node.getBoundingClientRect();
			return { left, top, right, bottom };
		}),
	);
	const x = Math.max(0, Math.min(...boxes.map(({ left }) => left)) - margin.left);
	const y = Math.max(0, Math.min(...boxes.map(({ top }) => top)) - margin.top);
	const right = Math.max(...boxes.map((box) => box.right)) + margin.right;
	const bottom = Math.max(...boxes.map((box) => box.bottom)) + margin.bottom;
	const clip = { x, y, width: right - x, height: bottom - y };
	return await page.screenshot({ ...still, clip, style: overCanvas });
}

/** In both themes: what `shoot` takes. */
async function inBothThemes(
	editor: Editor,
	name: string,
	shoot: (theme: 'dark' | 'light') => Promise<Buffer>,
): Promise<void> {
	for (const theme of ['dark', 'light'] as const) {
		await editor.useTheme(theme);
		keep(await shoot(theme), `${name}-${theme}`);
	}
}

/** A node's panel without its input: what was set, and what came out. */
export async function stepPicture(editor: Editor, name: string, height: number): Promise<void> {
	await inBothThemes(editor, name, async () => {
		const panel = await editor.byId('ndv').boundingBox();
		const output = await editor.byId('output-panel').boundingBox();
		const input = await editor.byId('ndv-input-panel').boundingBox();
		assert.ok(panel !== null && output !== null && input !== null, 'the panel is open');
		const x = input.x + input.width;
		const clip = { x, y: panel.y, width: output.x + output.width - x, height };
		return await editor.page.screenshot({ ...still, clip });
	});
}

/** The canvas of the open workflow, and beside it the steps of `open`, one below the other: the top of its pane after each. */
export async function storyPicture(
	editor: Editor,
	name: string,
	{ pane, steps }: { pane: Locator; steps: Array<{ open: () => Promise<void>; height: number }> },
): Promise<void> {
	const canvases = new Map<string, Buffer>();
	for (const theme of ['dark', 'light'] as const) {
		await editor.useTheme(theme);
		canvases.set(theme, await canvasShot(editor));
	}
	const shots = { dark: [] as Buffer[], light: [] as Buffer[] };
	for (const { open, height } of steps) {
		await open();
		for (const theme of ['dark', 'light'] as const) {
			await editor.useTheme(theme);
			const box = await pane.boundingBox();
			assert.ok(box !== null, 'the pane is open');
			shots[theme].push(await editor.page.screenshot({ ...still, clip: { ...box, height } }));
		}
	}
	await inBothThemes(
		editor,
		name,
		async (theme) =>
			await sideBySide(editor, theme, { left: canvases.get(theme), right: shots[theme] }),
	);
}

async function sideBySide(
	editor: Editor,
	theme: 'dark' | 'light',
	{ left, right }: { left: Buffer | undefined; right: readonly Buffer[] },
): Promise<Buffer> {
	const page = await editor.page.context().newPage();
	const image = (bytes: Buffer | undefined) =>
		`<img src="data:image/png;base64,${bytes?.toString('base64') ?? ''}">`;
	const [background, line] = theme === 'dark' ? ['#1f1f1f', '#444'] : ['#fff', '#ddd'];
	await page.setContent(
		`<style>body { margin: 0 } div { display: inline-flex; gap: 12px; background: ${background} } #all { padding: 12px }
		#right { flex-direction: column } #left img { height: 420px } #right img { width: 420px }
		img { border: 1px solid ${line}; border-radius: 6px }</style>
		<div id="all"><div id="left">${image(left)}</div><div id="right">${right.map(image).join('')}</div></div>`,
	);
	const shot = await page.locator('#all').screenshot();
	await page.close();
	return shot;
}
