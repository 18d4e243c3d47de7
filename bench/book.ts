/** A book in a real n8n: a long text is spoken in parts and joined, with captions; and what n8n holds while 600 MB are joined. */
import { setTimeout as delay } from 'node:timers/promises';
import { startContext, type TestContext } from '../test/n8n/harness/context';
import { type Execution, items } from '../test/n8n/harness/execution';
import { secondsOf } from './jobs';
import { peakOver } from './peak';
import { type Bench, shown } from './report';
import { check, median, megabytes } from './stats';
import { called, last, publish, type Node } from './workflows';

const active = 20;
const memoryLimitMb = 64;
const laterRuns = 2;

interface Text {
	label: string;
	parts: number;
	charactersEach: number;
	partS: number;
	/** Of each part's file: about a kilobyte for each character, as speech of 128 kbit/s has. */
	bytes: number;
}

const book: Text = {
	label: 'a book',
	parts: 40,
	charactersEach: 2_500,
	partS: 10,
	bytes: 2_500_000,
};
const manyParts: Text = {
	label: 'many parts',
	parts: 500,
	charactersEach: 250,
	partS: 1,
	bytes: 250_000,
};
const large: Text = {
	label: 'large parts',
	parts: 100,
	charactersEach: 250,
	partS: 0.05,
	bytes: 6_000_000,
};

/** Paragraphs that fit one part each. */
function textOf({ parts, charactersEach }: Text): string {
	const sentence = 'This sentence stands for a page that is far too long for one request. ';
	return Array.from({ length: parts }, (_, index) =>
		`Page ${index}. ${sentence.repeat(40)}`.slice(0, charactersEach - 3).replace(/\s*$/, '.'),
	).join('\n\n');
}

const speak = (): Node => ({
	name: 'Speak',
	type: 'n8n-nodes-media-generation.mediaGeneration',
	typeVersion: 1,
	parameters: {
		resource: 'speech',
		operation: 'generateByVoiceName',
		voice: 'en-US-AriaNeural',
		text: '={{ $json.body.text }}',
		longText: 'join',
		withTranscript: true,
		options: {
			maxCharacters: '={{ $json.body.maxCharacters }}',
			maxActiveTasks: active,
			timeout: 3600,
			extraFields: '={{ JSON.stringify({ stand_in: $json.body.standIn }) }}',
		},
	},
});

interface Spoken {
	seconds: number;
	bytes: number;
}

function checkItem({ service }: TestContext, execution: Execution, text: Text): Spoken {
	check(
		execution.status === 'success',
		`${text.label}: ${execution.resultData.error?.message ?? execution.status}`,
	);
	const [item, ...others] = items(execution, 'Last');
	check(item !== undefined && others.length === 0, `${text.label}: not one item`);
	const parts = item.json.parts as unknown[];
	check(parts.length === text.parts, `${text.label}: ${parts.length} parts`);
	check(service.creations().length === text.parts, `${text.label}: not one task a part`);
	const files = Object.keys(item.binary ?? {});
	check(files.join() === 'data,data_1,data_2', `${text.label}: files ${files.join()}`);
	const bytes = item.binary?.data?.bytes ?? 0;
	check(bytes > 0.99 * text.parts * text.bytes, `${text.label}: ${bytes} bytes`);
	return { seconds: secondsOf(execution), bytes };
}

/** One execution that speaks the text. The stand-in forgets what was before. */
async function run(context: TestContext, workflowId: string, text: Text): Promise<Spoken> {
	const { rest, service } = context;
	service.reset();
	const before = (await rest.listExecutions(workflowId)).length;
	const { partS, bytes, charactersEach: maxCharacters } = text;
	const standIn = { ms: partS * 1000, bytes };
	await rest.callWebhook('book', { text: textOf(text), maxCharacters, standIn });
	const executions = await rest.waitForExecutions(workflowId, before + 1, 600_000);
	const execution = executions.at(-1);
	check(execution !== undefined, 'no execution');
	return checkItem(context, execution, text);
}

function leastOf({ parts, partS }: Text): number {
	return Math.ceil(parts / active) * partS;
}

export const bench: Bench = {
	title: 'a text of 100,000 characters, spoken in parts and joined with captions',
	async run(say) {
		const context = await startContext({
			env: { N8N_DEFAULT_BINARY_DATA_MODE: 'filesystem' },
			settings: { audioFormat: 'mp3', activeTaskLimit: active },
		});
		try {
			const { id } = await publish(context, 'book', [called('book'), speak(), last()]);
			// Warm: code loaded, pools filled, and the stand-in has encoded the sound that its file host repeats.
			await run(context, id, { ...book, partS: 0.5, bytes: 250_000 });
			const rows = [];
			for (const text of [book, manyParts]) {
				const { seconds } = await run(context, id, text);
				const least = leastOf(text);
				say(`${text.parts} parts of ${text.partS} s: ${seconds.toFixed(1)} s`);
				rows.push({ text, seconds, least });
			}
			const peaks: number[] = [];
			for (let number = 0; number <= laterRuns; number += 1) {
				await delay(3_000);
				const work = async () => void (await run(context, id, large));
				peaks.push(megabytes(await peakOver(context, work)));
				say(`joining 600 MB: ${Math.round(peaks.at(-1) ?? NaN)} MB over idle`);
			}
			const [first = NaN, ...later] = peaks;
			const [spoken] = rows;
			return {
				tables: [
					{
						caption: `One item, ${active} tasks active, MP3 with SRT and JSON. Least: as many rounds of a part's time as there have to be`,
						columns: ['', 's', 'least s', 'beside least'],
						rows: rows.map(({ text, seconds, least }) => [
							`${text.parts} parts of ${text.partS} s`,
							seconds,
							least,
							`${(seconds / least).toFixed(2)} x`,
						]),
					},
					{
						caption: `Peak of n8n over idle while ${large.parts} parts of 6 MB are fetched and joined (filesystem mode), MB`,
						columns: ['', 'MB'],
						rows: [
							['first run of the process', first],
							[`${laterRuns} later runs, median`, median(later)],
						],
					},
				],
				marks: [
					{
						what: `${book.parts} parts: time beside the least possible`,
						measured: spoken === undefined ? NaN : spoken.seconds / spoken.least,
						limit: 1.15,
						unit: 'x',
					},
					{
						what: 'joining 600 MB, first run: peak over idle',
						measured: first,
						limit: memoryLimitMb,
						unit: 'MB',
					},
					{
						what: 'joining 600 MB, later runs: peak over idle',
						measured: median(later),
						limit: memoryLimitMb,
						unit: 'MB',
					},
				],
				bars: [],
				headline: `A text of 100,000 characters takes ${shown(spoken === undefined ? NaN : spoken.seconds / spoken.least)} times its parts' own time, joined with captions; joining 600 MB takes ${shown(Math.max(first, median(later)))} MB of memory`,
				checked: [
					`one item with one sound, one SRT and one JSON each, of ${book.parts}, ${manyParts.parts} and ${large.parts} parts; one task a part`,
				],
			};
		} finally {
			await context.close();
		}
	},
};
