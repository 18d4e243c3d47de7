/** A process of its own, whose memory is measured: sound files on disk become one, by one of three ways. Prints JSON. */
import { createReadStream, createWriteStream, readdirSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { joined, planJoin } from '../../nodes/MediaGeneration/media/join';
import { scan } from '../../nodes/MediaGeneration/media/scan';
import { check } from '../stats';

const [way = '', folder = '', count = '', target = ''] = process.argv.slice(2);
const names = readdirSync(folder).sort();
/** The files again and again, until there are enough parts. */
const parts = (total: number) =>
	Array.from({ length: total }, (_, index) => join(folder, names[index % names.length] ?? ''));

/** Reads every part twice and writes once. */
async function ours(files: string[]): Promise<number> {
	const facts = [];
	for (const file of files) facts.push(await scan(createReadStream(file)));
	const plan = planJoin(facts, { pauseMs: 500 });
	check(plan.joinable, plan.joinable ? '' : plan.reason);
	const chunks = joined(plan, (index) => createReadStream(files[index] ?? ''));
	await pipeline(chunks, createWriteStream(target));
	return plan.durationSeconds;
}

/** The bytes one after another, headers and tags and all: players stop after the first part, or show a wrong length. */
async function copied(files: string[]): Promise<number> {
	const chunks = async function* () {
		for (const file of files) yield* createReadStream(file) as AsyncIterable<Buffer>;
	};
	await pipeline(chunks, createWriteStream(target));
	return 0;
}

/** The same as a Code node does it, with everything in memory. */
async function buffered(files: string[]): Promise<number> {
	const buffers: Buffer[] = [];
	for (const file of files) buffers.push(await readFile(file));
	await writeFile(target, Buffer.concat(buffers));
	return 0;
}

const ways: Record<string, (files: string[]) => Promise<number>> = { ours, copied, buffered };

async function main(): Promise<void> {
	const go = ways[way];
	check(go !== undefined, `unknown way ${way}`);
	// Once before with a few, so that the code is compiled.
	await go(parts(Math.min(5, names.length)));
	const idle = process.memoryUsage.rss();
	let peak = idle;
	const watching = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 10);
	const before = process.cpuUsage();
	const started = Date.now();
	const durationSeconds = await go(parts(Number(count)));
	const wallMs = Date.now() - started;
	const { user, system } = process.cpuUsage(before);
	clearInterval(watching);
	peak = Math.max(peak, process.memoryUsage.rss());
	const cpuMs = (user + system) / 1000;
	console.log(JSON.stringify({ cpuMs, wallMs, peakBytes: peak - idle, durationSeconds }));
}

void main();
