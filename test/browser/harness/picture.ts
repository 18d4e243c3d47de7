/** Pictures for the documentation: kept only with `npm run test:browser -- --pictures`, so that a test run changes no file. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Locator, Page } from 'playwright-core';

const root = join(__dirname, '..', '..', '..');
const maxBytes = 150_000;

export const takesPictures = process.env.MEDIA_GENERATION_PICTURES === '1';

/** A picture of the page or of a part of it, as `docs/images/NAME.png` unless another folder is given. */
export async function picture(
	of: Page | Locator,
	name: string,
	folder = join('docs', 'images'),
): Promise<void> {
	const bytes = await of.screenshot({ animations: 'disabled', caret: 'hide' });
	assert.ok(bytes.length < maxBytes, `${name}.png has ${bytes.length} bytes`);
	if (!takesPictures) return;
	const file = join(root, folder, `${name}.png`);
	mkdirSync(dirname(file), { recursive: true });
	writeFileSync(file, bytes);
}
