/** 100 parts of 6 MB on disk become one file: time and memory, beside copying the same bytes. Each way in a process of its own. */
import { execFile } from 'node:child_process';
import { createReadStream, createWriteStream, mkdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { SoundScanner } from '../nodes/MediaGeneration/media/scan';
import { root } from '../scripts/pack';
import { bulkBytes } from '../test/service/media/bulk';
import { loadMp3Encoder } from '../test/service/media/mp3';
import { bulkSound, type Sound } from '../test/service/media/sounds';
import type { Bench, Mark } from './report';
import { outFolder } from './saved';
import { check, median, megabytes } from './stats';

const run = promisify(execFile);
const partCount = 100;
const partBytes = 6_000_000;
/** The others are these again: a disk that is slow to write should not be what is measured. */
const files = 10;
const rounds = 3;

const kinds: ReadonlyArray<{ label: string; sound: Sound }> = [
	{ label: 'MP3, constant rate', sound: { format: 'mp3', mp3: {}, sampleRate: undefined } },
	{
		label: 'MP3, variable rate',
		sound: { format: 'mp3', mp3: { variable: true }, sampleRate: undefined },
	},
	{ label: 'WAV', sound: { format: 'wav', mp3: {}, sampleRate: undefined } },
];
const ways = [
	{ name: 'ours', label: 'ours' },
	{ name: 'copied', label: 'copied as is (does not play right)' },
	{ name: 'buffered', label: 'Buffer.concat, as in a Code node' },
] as const;

interface Measured {
	cpuMs: number;
	wallMs: number;
	peakBytes: number;
	durationSeconds: number;
}

async function writeParts(folder: string, sound: Sound): Promise<void> {
	rmSync(folder, { recursive: true, force: true });
	mkdirSync(folder, { recursive: true });
	for (let number = 0; number < files; number += 1) {
		const { content, block } = bulkSound(`Part ${number}`, partBytes, sound);
		const chunks = bulkBytes(content(), { from: 0, to: partBytes }, block?.());
		await pipeline(chunks, createWriteStream(join(folder, `part-${number}`)));
	}
}

/** The joined file as it lies on disk. */
async function secondsOf(file: string): Promise<number | undefined> {
	const meter = new SoundScanner();
	for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) meter.push(chunk);
	return meter.seconds();
}

async function measure(way: string, folder: string, target: string): Promise<Measured> {
	const probe = join(__dirname, 'probes', 'joining.ts');
	const args = ['--import', 'tsx', probe, way, folder, String(partCount), target];
	const { stdout } = await run(process.execPath, args, { cwd: root, timeout: 300_000 });
	const measured = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Measured;
	const { size } = statSync(target);
	check(size > partCount * partBytes * 0.99, `${way}: the file has ${size} bytes`);
	if (way === 'ours') {
		const seconds = (await secondsOf(target)) ?? NaN;
		const difference = Math.abs(seconds - measured.durationSeconds);
		check(difference < 0.001, `it lasts ${seconds} s, not ${measured.durationSeconds} s`);
	}
	return measured;
}

export const bench: Bench = {
	title: `joining ${partCount} parts of ${partBytes / 1e6} MB`,
	async run(say) {
		await loadMp3Encoder();
		const folder = join(outFolder, `joining-${process.pid}`);
		const target = join(outFolder, `joined-${process.pid}`);
		const rows: Array<{
			label: string;
			ours: boolean;
			speed: number;
			peak: number;
			wallS: number;
		}> = [];
		try {
			for (const { label, sound } of kinds) {
				await writeParts(folder, sound);
				for (const way of ways) {
					const all: Measured[] = [];
					for (let round = 1; round <= rounds; round += 1)
						all.push(await measure(way.name, folder, target));
					const of = (field: keyof Measured) => median(all.map((measured) => measured[field]));
					const speed = (partCount * partBytes) / 1e6 / (of('cpuMs') / 1000);
					const peak = megabytes(of('peakBytes'));
					const ours = way.name === 'ours';
					rows.push({
						label: `${label}: ${way.label}`,
						ours,
						speed,
						peak,
						wallS: of('wallMs') / 1000,
					});
					say(
						`${label}, ${way.label}: ${Math.round(speed)} MB/s, ${Math.round(peak)} MB over idle`,
					);
				}
			}
		} finally {
			rmSync(folder, { recursive: true, force: true });
			rmSync(target, { force: true });
		}
		const marks = rows
			.filter(({ ours }) => ours)
			.flatMap(({ label, speed, peak }): Mark[] => [
				{
					what: `${label}: both passes, in a second of CPU time`,
					measured: speed,
					limit: 200,
					bound: 'least',
					unit: 'MB',
				},
				{ what: `${label}: peak over idle`, measured: peak, limit: 64, unit: 'MB' },
			]);
		return {
			tables: [
				{
					caption: `From disk to disk, with pauses of 0.5 s; ours reads every part twice. Median of ${rounds} processes`,
					columns: ['', 'MB in a second of CPU time', 'peak over idle, MB', 'wall s'],
					rows: rows.map(({ label, speed, peak, wallS }) => [label, speed, peak, wallS]),
				},
			],
			marks,
			bars: [
				{
					title: 'Joining 600 MB: peak memory over idle',
					unit: 'MB',
					better: 'less',
					bars: rows.map(({ label, peak, ours }) => ({ label, value: peak, ours })),
				},
			],
			checked: ['each joined file, read again from disk, lasts exactly as long as its plan says'],
		};
	},
};
