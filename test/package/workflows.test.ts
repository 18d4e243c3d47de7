/** The workflows of CI and release, as far as they can be judged without running them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import manifest from '../../package.json';
import { defaultVersion, versions } from '../../scripts/n8nInstall';
import { root } from '../../scripts/pack';

interface Step {
	uses?: string;
	run?: string;
	with?: Record<string, unknown>;
}

interface Job {
	uses?: string;
	needs?: string;
	steps?: Step[];
	permissions?: Record<string, string>;
	strategy?: { matrix: Record<string, unknown[]> };
	'timeout-minutes'?: number;
}

interface Workflow {
	on: Record<string, unknown>;
	permissions?: Record<string, string>;
	jobs: Record<string, Job>;
}

const folder = join(root, '.github', 'workflows');
const text = (name: string) => readFileSync(join(folder, name), 'utf8');
const read = (name: string) => parse(text(name)) as Workflow;
const names = readdirSync(folder);
const ci = read('ci.yml');
const release = read('release.yml');

/** Every npm command of a workflow, once for each value of the matrix that it names. */
function npmCommands(workflow: Workflow): string[] {
	return Object.values(workflow.jobs).flatMap(({ steps = [], strategy }) =>
		steps.flatMap(({ run = '' }) => {
			const variable = /\$\{\{ matrix\.([\w-]+) \}\}/.exec(run);
			const values = variable ? (strategy?.matrix[variable[1] ?? ''] ?? []) : [''];
			return values.map((value) => run.replace(variable?.[0] ?? '', String(value)));
		}),
	);
}

describe.each(names)('%s', (name) => {
	const { jobs, permissions } = read(name);

	it('pins every action by the commit, with its version beside it', () => {
		const used = [...text(name).matchAll(/uses: (.+)/g)].map((match) => match[1] ?? '');
		expect(used.length).toBeGreaterThan(0);
		for (const action of used.filter((one) => !one.startsWith('./')))
			expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
	});

	it('gives every job a time limit', () => {
		for (const [job, { uses, 'timeout-minutes': limit }] of Object.entries(jobs))
			if (uses === undefined)
				expect({ job, limited: typeof limit === 'number' }).toEqual({ job, limited: true });
	});

	it('may read, and leaves no token behind in the checkout', () => {
		expect(permissions).toEqual({ contents: 'read' });
		const checkouts = Object.values(jobs)
			.flatMap(({ steps = [] }) => steps)
			.filter(({ uses }) => uses?.startsWith('actions/checkout@'));
		for (const checkout of checkouts)
			expect(checkout.with).toMatchObject({ 'persist-credentials': false });
	});
});

describe('CI', () => {
	it('runs "npm test" on three systems and every Node.js that is supported', () => {
		expect(ci.jobs.test?.strategy?.matrix).toEqual({
			os: ['ubuntu-latest', 'macos-latest', 'windows-latest'],
			node: [20, 22, 24],
		});
		expect(ci.jobs.test?.steps?.at(-1)?.run).toBe('npm test');
	});

	it('runs everything that .ci/run runs, version by version', () => {
		const own = readFileSync(join(root, '.ci', 'run'), 'utf8').match(/\bnpm (test\b|run [\w:]+)/g);
		expect(own?.length).toBeGreaterThan(5);
		const scripts = npmCommands(ci).map((command) => command.split(' -- ')[0]);
		expect(scripts).toEqual(expect.arrayContaining([...new Set(own)]));
	});

	it('tries every version of n8n and of its interfaces that can be chosen', () => {
		const compat = readFileSync(join(root, 'scripts', 'testCompat.ts'), 'utf8');
		const pinned = /pinned = \[(.*)\]/.exec(compat)?.[1]?.split(', ') ?? [];
		expect(pinned).toHaveLength(3);
		expect(npmCommands(ci)).toEqual(
			expect.arrayContaining([
				...pinned.map((version) => `npm run test:compat -- --only ${version.slice(1, -1)}`),
				...versions
					.filter((version) => version !== defaultVersion)
					.map((version) => `npm run test:versions -- --only ${version}`),
			]),
		);
	});

	it('calls npm scripts that exist', () => {
		const called = [...npmCommands(ci), ...npmCommands(release)].flatMap(
			(command) => /^npm run ([\w:]+)/.exec(command)?.[1] ?? [],
		);
		for (const script of called) expect(Object.keys(manifest.scripts)).toContain(script);
	});
});

describe('a release', () => {
	it('is published after all of CI, from the tarball that was packed, by trusted publishing with provenance', () => {
		expect(release.on).toEqual({ push: { tags: ['v*'] } });
		expect(release.jobs.ci).toMatchObject({ needs: 'ready', uses: './.github/workflows/ci.yml' });
		expect(release.jobs.pack?.needs).toBe('ci');
		expect(release.jobs.publish?.needs).toBe('pack');
		expect(Object.keys(ci.on)).toContain('workflow_call');
		expect(npmCommands(release).at(-1)).toBe(
			'npm publish ./package/*.tgz --provenance --access public --ignore-scripts',
		);
	});

	it('asks for an identity in the publishing job alone, which runs nothing but npm', () => {
		for (const name of names)
			for (const [job, { permissions = {} }] of Object.entries(read(name).jobs))
				expect({ job, permissions }).toEqual({
					job,
					permissions: job === 'publish' ? { 'id-token': 'write' } : {},
				});
		const steps = release.jobs.publish?.steps ?? [];
		const commands = steps.flatMap(({ run }) => run ?? []);
		expect(commands).toEqual([
			expect.stringMatching(/^registry="\$\(npm config get registry\)" && npm config set \S+$/),
			expect.stringMatching(/^npm publish /),
		]);
		expect(steps.some(({ uses }) => uses?.startsWith('actions/checkout@'))).toBe(false);
	});

	it('knows one secret, for the first version alone, and in the publishing job alone', () => {
		for (const name of names) {
			const secrets = text(name).match(/\$\{\{ (secrets|vars)\..*/g) ?? [];
			const first = ['${{ secrets.FIRST_VERSION_TOKEN }}'];
			expect({ name, secrets }).toEqual({ name, secrets: name === 'release.yml' ? first : [] });
		}
		expect(release.jobs.publish).toHaveProperty('env.FIRST_VERSION_TOKEN');
	});
});
