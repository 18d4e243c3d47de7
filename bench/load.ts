/** What n8n pays at its start for these nodes, beside its own OpenAI nodes: time to load, and size. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ensureN8n, type N8nInstall } from '../scripts/n8nInstall';
import { packedTarball } from '../test/n8n/harness/context';
import type { Bench } from './report';
import { check, median } from './stats';

const run = promisify(execFile);
const rounds = 15;

interface Subject {
	label: string;
	files: string[];
	exported: string[];
	ours: boolean;
}

interface Loaded {
	wallMs: number;
	cpuMs: number;
}

async function load({ node, dir }: N8nInstall, { files, exported, label }: Subject) {
	const { stdout } = await run(node, [join(__dirname, 'probes', 'load.cjs'), ...files], {
		env: { ...process.env, NODE_PATH: join(dir, 'node_modules'), NODE_OPTIONS: '' },
	});
	const { names, ...loaded } = JSON.parse(stdout) as Loaded & { names: string[] };
	check(
		exported.every((name) => names.includes(name)),
		`${label} exports ${names.join(', ')}`,
	);
	return loaded;
}

interface Size {
	bytes: number;
	files: number;
}

/** Everything below a folder, but what only a debugger reads. */
function sizeOf(path: string): Size {
	if (!statSync(path).isDirectory()) {
		const counts = !/\.(map|d\.ts)$/.test(path);
		return { bytes: counts ? statSync(path).size : 0, files: counts ? 1 : 0 };
	}
	return readdirSync(path)
		.map((name) => sizeOf(join(path, name)))
		.reduce((a, b) => ({ bytes: a.bytes + b.bytes, files: a.files + b.files }), {
			bytes: 0,
			files: 0,
		});
}

function kilobytes(bytes: number): number {
	return Math.round(bytes / 100) / 10;
}

async function measure(folder: string, say: (line: string) => void) {
	const n8n = await ensureN8n();
	const tarball = await packedTarball();
	// Unpacked where no node_modules is above it, like in n8n's own folder for community nodes.
	await run('tar', ['-xzf', tarball, '-C', folder]);
	const dist = join(folder, 'package', 'dist', 'nodes', 'MediaGeneration');
	const modules = join(n8n.dir, 'node_modules');
	const base = join(modules, 'n8n-nodes-base', 'dist', 'nodes', 'OpenAi');
	const vendor = join(modules, '@n8n', 'n8n-nodes-langchain', 'dist', 'nodes', 'vendors', 'OpenAi');
	const subjects: Subject[] = [
		{
			label: 'ours, both nodes',
			files: ['MediaGeneration', 'MediaGenerationTrigger'].map((name) =>
				join(dist, `${name}.node.js`),
			),
			exported: ['MediaGeneration', 'MediaGenerationTrigger'],
			ours: true,
		},
		{
			label: "n8n's OpenAI node (n8n-nodes-base)",
			files: [join(base, 'OpenAi.node.js')],
			exported: ['OpenAi'],
			ours: false,
		},
		{
			label: "n8n's OpenAI node (langchain)",
			files: [join(vendor, 'OpenAi.node.js')],
			exported: ['OpenAi'],
			ours: false,
		},
	];
	const times = new Map(subjects.map((subject) => [subject, [] as Loaded[]]));
	for (let round = 0; round <= rounds; round += 1) {
		for (const subject of subjects) {
			// The slow ones need fewer rounds, and the first one only warms the disk cache.
			if (!subject.ours && round > 4) continue;
			const loaded = await load(n8n, subject);
			if (round > 0) times.get(subject)?.push(loaded);
		}
	}
	say('times are taken');
	return {
		results: subjects.map((subject) => {
			const all = times.get(subject) ?? [];
			const walls = all.map(({ wallMs }) => wallMs);
			return {
				...subject,
				wallMs: median(walls),
				bestMs: Math.min(...walls),
				cpuMs: median(all.map(({ cpuMs }) => cpuMs)),
			};
		}),
		packed: statSync(tarball).size,
		sizes: [
			['ours, the whole package unpacked', sizeOf(join(folder, 'package'))],
			["n8n's OpenAI node (n8n-nodes-base), its folder alone", sizeOf(base)],
			["n8n's OpenAI node (langchain), its folder alone", sizeOf(vendor)],
		] as Array<[string, Size]>,
	};
}

export const bench: Bench = {
	title: 'loading the nodes, and their size',
	async run(say) {
		const folder = mkdtempSync(join(tmpdir(), 'media-generation-load-'));
		try {
			const { results, packed, sizes } = await measure(folder, say);
			const [ours] = results;
			check(ours !== undefined, 'nothing was measured');
			return {
				tables: [
					{
						caption: `\`require\` in a fresh process of n8n's Node.js that has loaded n8n-workflow; median of ${rounds} (others: 4)`,
						columns: ['', 'ms', 'best ms', 'CPU ms', 'beside ours'],
						rows: results.map(({ label, wallMs, bestMs, cpuMs }) => [
							label,
							wallMs,
							bestMs,
							cpuMs,
							`${(cpuMs / ours.cpuMs).toFixed(1)} x`,
						]),
					},
					{
						caption: 'Size, without source maps and declarations',
						columns: ['', 'files', 'kB'],
						rows: [
							['ours, packed', 1, kilobytes(packed)],
							...sizes.map(([label, { bytes, files }]) => [label, files, kilobytes(bytes)]),
						],
					},
				],
				marks: [
					{ what: 'loading both nodes', measured: ours.wallMs, limit: 6, unit: 'ms' },
					{ what: 'packed size', measured: kilobytes(packed), limit: 150, unit: 'kB' },
				],
				bars: [
					{
						title: 'Loading the nodes (CPU time)',
						unit: 'ms',
						better: 'less',
						bars: results.map(({ label, cpuMs, ours: own }) => ({
							label,
							value: cpuMs,
							ours: own,
						})),
					},
				],
				checked: ['every process exported the node classes'],
			};
		} finally {
			rmSync(folder, { recursive: true, force: true });
		}
	},
};
