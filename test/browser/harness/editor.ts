/** n8n's editor as a person uses it: what is clicked and typed, by the names on screen or the editor's own test IDs. */
import { type Browser, chromium, type Locator, type Page } from 'playwright-core';
import { onCleanup } from '../../../scripts/cleanup';
import { testOwner } from '../../n8n/harness/rest';

export type Theme = 'light' | 'dark';

const flags = [
	'--no-sandbox',
	'--disable-gpu',
	'--disable-quic',
	'--no-first-run',
	'--disable-background-networking',
	'--disable-component-update',
	'--disable-sync',
	'--autoplay-policy=no-user-gesture-required',
];

let launched: Promise<Browser> | undefined;

async function browser(): Promise<Browser> {
	launched ??= (async () => {
		const started = await chromium.launch({
			executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
			args: flags,
		});
		onCleanup(async () => await started.close());
		return started;
	})();
	return await launched;
}

/** The machine may be busy: a step that takes longer than this has failed. */
const stepTimeoutMs = 120_000;

export class Editor {
	private constructor(
		readonly page: Page,
		private readonly baseUrl: string,
	) {}

	/** Opens a browser window of its own and logs in. */
	static async open(baseUrl: string, theme: Theme = 'light'): Promise<Editor> {
		const context = await (
			await browser()
		).newContext({ viewport: { width: 1280, height: 800 }, colorScheme: theme });
		const page = await context.newPage();
		page.setDefaultTimeout(stepTimeoutMs);
		// The compiler of these tests marks functions by a helper, which pages don't have.
		await page.addInitScript('globalThis.__name ??= (named) => named');
		await page.goto(`${baseUrl}/signin`);
		await page.fill('[name=emailOrLdapLoginId]', testOwner.email);
		await page.fill('[name=password]', testOwner.password);
		await page.keyboard.press('Enter');
		await page.waitForURL((url) => !url.pathname.includes('signin'));
		return new Editor(page, baseUrl);
	}

	async close(): Promise<void> {
		await this.page.context().close();
	}

	byId(testId: string): Locator {
		return this.page.locator(`[data-test-id="${testId}"]`);
	}

	/** Another theme from now on: n8n follows the system's, by style sheets alone. */
	async useTheme(theme: Theme): Promise<void> {
		await this.page.emulateMedia({ colorScheme: theme });
		await this.page.waitForFunction(
			(wanted) => matchMedia(`(prefers-color-scheme: ${wanted})`).matches,
			theme,
		);
	}

	async newWorkflow(): Promise<void> {
		await this.page.goto(`${this.baseUrl}/workflow/new`);
		await this.byId('canvas-add-button').waitFor();
	}

	async openWorkflow(id: string): Promise<void> {
		await this.page.goto(`${this.baseUrl}/workflow/${id}`);
		await this.byId('canvas-node').first().waitFor();
	}

	/** The key N; on a canvas that has a node. */
	async openNodePanel(): Promise<void> {
		const search = this.byId('node-creator-search-bar');
		for (let tries = 0; tries < 5 && !(await search.isVisible()); tries += 1) {
			// The key counts only where the canvas has the focus, which a closing panel gives back late.
			await this.page.locator('.vue-flow__pane').click({ position: { x: 60, y: 120 } });
			await this.page.keyboard.press('n');
			await search.waitFor({ timeout: 5000 }).catch(() => undefined);
		}
		await search.waitFor();
		const hint = this.page.getByText('Got it', { exact: true });
		if (await hint.isVisible()) await hint.click();
	}

	async search(words: string): Promise<Locator> {
		await this.byId('node-creator-search-bar').fill(words);
		return this.byId('item-iterator-item');
	}

	/** Adds a manual trigger to an empty canvas; once more where the panel closes again, as the canvas of a busy machine is still being built. */
	async addManualTrigger(): Promise<void> {
		const search = this.byId('node-creator-search-bar');
		const added = this.byId('canvas-trigger-node');
		const choose = async () => {
			if (!(await search.isVisible())) await this.byId('canvas-add-button').click();
			await search.waitFor({ timeout: 30_000 });
			const found = await this.search('manual');
			// A panel that opens before n8n has loaded all nodes has the second name.
			const either = found.filter({ hasText: /Trigger manually|Manual Trigger/ });
			await either.first().click({ timeout: 30_000 });
			await added.waitFor({ timeout: 30_000 });
		};
		for (let tries = 0; tries < 4 && !(await added.isVisible()); tries += 1)
			await choose().catch(() => undefined);
		await added.waitFor();
		await this.closeNodePanel();
	}

	/** The first Escape can go to the search's own words. */
	async closeNodePanel(): Promise<void> {
		const search = this.byId('node-creator-search-bar');
		while (await search.isVisible()) {
			await this.page.keyboard.press('Escape');
			await search.waitFor({ state: 'hidden', timeout: 2000 }).catch(() => undefined);
		}
	}

	/** Searches the node panel and opens the node's actions. */
	private async openActions(words: string): Promise<void> {
		await this.openNodePanel();
		const found = await this.search(words);
		await found.filter({ hasText: 'Media Generation' }).first().click();
	}

	/** Searches the node panel and chooses one of the node's actions by its words; its panel opens. */
	async addNode(words: string, action: string): Promise<void> {
		await this.openActions(words);
		await this.page.getByText(action, { exact: true }).click();
		await this.byId('ndv').waitFor();
	}

	/** As {@link addNode}, but the action is dragged onto the canvas. */
	async dragNode(words: string, action: string): Promise<void> {
		await this.openActions(words);
		await this.byId('item-iterator-item')
			.filter({ has: this.page.getByText(action, { exact: true }) })
			.dragTo(this.page.locator('.vue-flow__pane'), { targetPosition: { x: 420, y: 560 } });
		await this.canvasNode(action).waitFor();
		await this.byId('ndv').waitFor();
	}

	private canvasNode(name: string): Locator {
		return this.page.locator(`[data-test-id="canvas-node"][data-node-name="${name}"]`);
	}

	/** Opens a node's panel from the canvas. */
	async openNode(name: string): Promise<void> {
		await this.canvasNode(name).dblclick();
		await this.byId('ndv').waitFor();
	}

	parameter(name: string): Locator {
		return this.byId(`parameter-input-${name}`);
	}

	/** Where a parameter is typed into. A picker has its mode in front of that. */
	private field(name: string): Locator {
		return this.parameter(name)
			.locator('textarea, input:not([data-test-id="rlc-mode-selector"] *)')
			.first();
	}

	async fill(name: string, value: string): Promise<void> {
		const field = this.field(name);
		await field.fill(value);
		await field.blur();
	}

	async valueOf(name: string): Promise<string> {
		return await this.field(name).inputValue();
	}

	/** Opens a picker's list. */
	async openList(name: string): Promise<void> {
		const parameter = this.parameter(name);
		await parameter.locator('[data-test-id="rlc-mode-selector"]').click();
		await this.page.locator('[data-test-id="mode-list"]:visible').click();
		await this.field(name).click();
	}

	/** Opens a picker's list and takes an entry. */
	async pick(name: string, entry: string): Promise<void> {
		await this.openList(name);
		await this.byId('rlc-item').filter({ hasText: entry }).first().click();
	}

	async choose(name: string, option: string): Promise<void> {
		await this.parameter(name).click();
		const open = this.page.locator('.el-select-dropdown__item:visible');
		await open.filter({ has: this.page.getByText(option, { exact: true }) }).click();
		await open.first().waitFor({ state: 'hidden' });
	}

	/** "Execute step", until it has run. */
	async executeStep(): Promise<void> {
		await this.byId('node-execute-button').click();
		await this.byId('output-panel').getByText('Binary', { exact: true }).waitFor();
	}

	/** "Execute workflow" on the canvas. */
	async executeWorkflow(): Promise<void> {
		await this.byId('execute-workflow-button').click();
	}

	/** Until this many nodes on the canvas have succeeded. */
	async succeeded(nodes: number): Promise<void> {
		const done = this.byId('canvas-node-status-success');
		await done.nth(nodes - 1).waitFor();
	}

	async showFiles(): Promise<void> {
		await this.byId('output-panel').getByText('Binary', { exact: true }).click();
		await this.byId('ndv-view-binary-data').first().waitFor();
	}

	/** The first file of the output, opened. */
	async viewFile(): Promise<void> {
		await this.showFiles();
		await this.byId('ndv-view-binary-data').first().click();
	}

	/** The length, in s, of the sound in the output. Its player then stands at a third of it. */
	async soundSeconds(): Promise<number> {
		const player = this.page.locator('audio');
		await player.waitFor();
		return await player.evaluate(async (audio: HTMLAudioElement) => {
			const event = async (name: string) =>
				await new Promise((resolve, reject) => {
					const fail = () => reject(new Error('The file can not be played'));
					audio.addEventListener(name, resolve, { once: true });
					audio.addEventListener('error', fail, true);
				});
			if (audio.readyState === 0) {
				const loaded = event('loadedmetadata');
				audio.load();
				await loaded;
			}
			audio.pause();
			const sought = event('seeked');
			audio.currentTime = audio.duration / 3;
			await sought;
			return audio.duration;
		});
	}

	/** Until the canvas has stopped moving. */
	async settled(): Promise<void> {
		await this.page
			.locator('.vue-flow__transformationpane')
			.first()
			.evaluate(
				async (pane) =>
					await new Promise<void>((resolve) => {
						let last = '';
						let same = 0;
						const look = () => {
							const now = getComputedStyle(pane).transform;
							same = now === last ? same + 1 : 0;
							last = now;
							if (same > 30) resolve();
							else requestAnimationFrame(look);
						};
						look();
					}),
			);
	}
}
