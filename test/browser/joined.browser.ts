import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TestContext } from '../n8n/harness/context';
import { items } from '../n8n/harness/execution';
import { action, called, last, speechByName } from '../n8n/harness/nodes';
import { toneHz } from '../service/media/tone';
import type { Editor } from './harness/editor';
import { openWindow } from './harness/window';

const SENTENCE = 'This sentence stands for a page of a book that is far too long for one request. ';
const pages = Array.from({ length: 6 }, (_, index) =>
	`Page ${index}. ${SENTENCE.repeat(2)}`.trim(),
);

interface Heard {
	/** Length of the file as the player shows it, in s. */
	seconds: number;
	/** The loudest frequency after each jump. */
	hz: number[];
}

/** Plays a file in the page's own player, jumps to each moment (in s) and listens for a while. */
async function listen(editor: Editor, url: string, starts: number[]): Promise<Heard> {
	return await editor.page.evaluate(
		async ({ from, moments }) => {
			const audio = new Audio(from);
			const event = async (name: string) =>
				await new Promise<void>((resolve, reject) => {
					audio.addEventListener(name, () => resolve(), { once: true });
					audio.addEventListener('error', () => reject(new Error(audio.error?.message)));
				});
			const loaded = event('loadedmetadata');
			audio.load();
			await loaded;
			const sound = new AudioContext();
			const analyser = sound.createAnalyser();
			analyser.fftSize = 16_384;
			analyser.smoothingTimeConstant = 0;
			sound.createMediaElementSource(audio).connect(analyser);
			analyser.connect(sound.destination);
			const levels = new Float32Array(analyser.frequencyBinCount);
			const hz: number[] = [];
			for (const moment of moments) {
				const sought = event('seeked');
				audio.currentTime = moment;
				await sought;
				await audio.play();
				while (audio.currentTime < moment + 0.6) await event('timeupdate');
				analyser.getFloatFrequencyData(levels);
				audio.pause();
				hz.push((levels.indexOf(Math.max(...levels)) * sound.sampleRate) / analyser.fftSize);
			}
			await sound.close();
			return { seconds: audio.duration, hz };
		},
		{ from: url, moments: starts },
	);
}

/** A joined file in the browser's player: it shows the whole length, and each part is where the item says. */
void describe('joined audio', () => {
	let context: TestContext;
	let editor: Editor;
	openWindow((window) => void ({ context, editor } = window));

	for (const format of ['mp3', 'mp3_vbr', 'wav'] as const) {
		void it(`${format} shows its full length, and jumps to the right part`, async () => {
			const { rest, n8n, service } = context;
			service.settings.audioFormat = format;
			const path = `joined-${format}`;
			const workflow = await context.save([
				called(path),
				action({
					...speechByName,
					text: '={{ $json.body.text }}',
					longText: 'join',
					withTranscript: true,
					options: { maxCharacters: 200, extraFields: '{ "stand_in": { "ms": 200 } }' },
				}),
				last(),
			]);
			const id = await rest.startByWebhook(workflow, path, { text: pages.join('\n\n') });
			const execution = await rest.waitForExecution(id);
			assert.equal(execution.status, 'success', execution.resultData.error?.message);
			const [item] = items(execution, 'Last');
			const parts = item?.json.parts as Array<{ start: number }>;
			assert.equal(parts.length, pages.length);
			const { data } = item?.binary ?? {};
			assert.ok(data?.id, 'a file in the store of n8n');
			const query = new URLSearchParams({
				id: data.id,
				action: 'view',
				fileName: data.fileName ?? '',
				mimeType: data.mimeType,
			});
			const url = `${n8n.baseUrl}/rest/binary-data?${query}`;
			const jumps = [5, 2, 0];
			const starts = jumps.map((part) => (parts[part]?.start ?? NaN) + 0.1);
			const { seconds, hz } = await listen(editor, url, starts);
			const expected = Number(item?.json.duration_seconds);
			assert.ok(Math.abs(seconds - expected) < 0.1, `${seconds} s instead of ${expected} s`);
			const tones = jumps.map((part) => toneHz(pages[part] ?? ''));
			for (const [index, tone] of tones.entries())
				assert.ok(
					Math.abs((hz[index] ?? 0) - tone) < 12,
					`${hz.join(', ')} Hz instead of ${tones.join(', ')}`,
				);
		});
	}
});
