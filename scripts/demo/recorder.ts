/** Films a page: Chromium's screencast as frames, put together by ffmpeg. */
import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CDPSession, Page } from 'playwright-core';

/** A machine that is busy, or a task that takes its time, does not make the film longer. */
const LONGEST_GAP_S = 0.25;
const FRAMES_PER_SECOND = 12;

interface Frame {
	file: string;
	at: number;
	heldS: number;
	/** How many times faster than it happened. */
	speed: number;
}

/** A bar for captions and a dot for the mouse, on every page of the window. */
export const overlay = `addEventListener('DOMContentLoaded', () => {
	const bar = document.createElement('div');
	bar.id = 'demo-caption';
	bar.style.cssText = 'position:fixed;left:50%;bottom:28px;transform:translateX(-50%);z-index:99999;pointer-events:none;max-width:80%;padding:12px 22px;border-radius:10px;background:#101828e6;color:#fff;font:600 22px/1.35 sans-serif;text-align:center;display:none';
	const dot = document.createElement('div');
	dot.style.cssText = 'position:fixed;z-index:99999;pointer-events:none;width:18px;height:18px;margin:-9px;border-radius:50%;background:#ff6d5a99;border:2px solid #fff';
	document.body.append(bar, dot);
	addEventListener('mousemove', ({ clientX, clientY }) => { dot.style.left = clientX + 'px'; dot.style.top = clientY + 'px'; }, true);
})`;

async function ffmpeg(...args: string[]): Promise<void> {
	const { execa } = await import('execa');
	await execa('ffmpeg', ['-y', '-loglevel', 'error', ...args]);
}

export class Recorder {
	/** Of what is filmed from now on. */
	speed = 1;
	private readonly frames: Frame[] = [];
	private session: CDPSession | undefined;

	constructor(
		private readonly page: Page,
		private readonly folder: string,
	) {
		rmSync(folder, { recursive: true, force: true });
		mkdirSync(folder, { recursive: true });
	}

	async start(): Promise<void> {
		const session = await this.page.context().newCDPSession(this.page);
		session.on('Page.screencastFrame', ({ data, sessionId, metadata: { timestamp = 0 } }) => {
			this.keep(Buffer.from(data, 'base64'), timestamp);
			session.send('Page.screencastFrameAck', { sessionId }).catch(() => undefined);
		});
		await session.send('Page.startScreencast', { format: 'jpeg', quality: 90 });
		this.session = session;
	}

	async stop(): Promise<void> {
		await this.session?.send('Page.stopScreencast');
	}

	private keep(bytes: Buffer, at: number): void {
		const file = `${String(this.frames.length).padStart(5, '0')}.jpg`;
		writeFileSync(join(this.folder, file), bytes);
		this.frames.push({ file, at, heldS: 0, speed: this.speed });
	}

	/** Shows a caption, and what the page shows now, for so long. @returns when in the film that begins, in s */
	async caption(words: string, seconds: number): Promise<number> {
		await this.page.evaluate((text) => {
			const bar = document.getElementById('demo-caption');
			if (bar === null) return;
			bar.textContent = text;
			bar.style.display = text === '' ? 'none' : 'block';
		}, words);
		// What was typed or opened is painted, and has arrived here as a frame.
		await this.page.waitForTimeout(700);
		const last = this.frames.at(-1);
		if (last === undefined) return 0;
		const begin = this.lengthS();
		last.heldS += seconds;
		return begin;
	}

	private durations(): number[] {
		return this.frames.map(({ at, heldS, speed }, index) => {
			const gap = ((this.frames[index + 1]?.at ?? at) - at) / speed;
			return Math.min(gap, LONGEST_GAP_S) + heldS;
		});
	}

	lengthS(): number {
		return this.durations().reduce((sum, one) => sum + one, 0);
	}

	/** The whole film as MP4. */
	async film(file: string): Promise<void> {
		const durations = this.durations();
		const list = this.frames.flatMap((frame, index) => [
			`file '${frame.file}'`,
			`duration ${(durations[index] ?? 0).toFixed(3)}`,
		]);
		// ffmpeg ignores the duration of the last entry.
		list.push(...list.slice(-2, -1));
		writeFileSync(join(this.folder, 'list.txt'), list.join('\n'));
		const input = ['-f', 'concat', '-i', join(this.folder, 'list.txt')];
		const picture = ['-vf', `fps=${FRAMES_PER_SECOND},format=yuv420p`, '-movflags', '+faststart'];
		await ffmpeg(...input, ...picture, file);
	}
}

/** A part of a film as an animation that pages show. @returns its size in bytes */
export async function animation(
	film: string,
	file: string,
	{ from, seconds }: { from: number; seconds: number },
): Promise<number> {
	const cut = ['-ss', from.toFixed(2), '-t', seconds.toFixed(2), '-i', film];
	const filter =
		'fps=6,scale=960:-1:flags=lanczos,split[a][b];[a]palettegen=max_colors=96:stats_mode=diff[p];[b][p]paletteuse=dither=none:diff_mode=rectangle';
	await ffmpeg(...cut, '-filter_complex', filter, file);
	return statSync(file).size;
}
