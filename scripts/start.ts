import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Command } from 'commander';
import getPort from 'get-port';
import { filesFolder, startN8n } from '../test/n8n/harness/n8n';
import { exampleSettings } from '../test/n8n/harness/workflow';
import { startService } from '../test/service';
import { keyVariable, realAccount, wholeNumber } from './account';
import { cleanUp, onCleanup } from './cleanup';
import { Halt, runMain } from './halt';
import { ensureN8n } from './n8nInstall';
import { importExamples, installBuilt, logIn, readState, startFolder } from './start/demo';
import { printResults, runFirst } from './start/firstRun';

const logFile = join(startFolder, 'n8n.log');
const firstExample = 'first-run';
/** As real tasks are, but short enough for a first look. */
const taskMs = { min: 2000, max: 5000 };

interface Options {
	port: number;
	servicePort: number;
	baseUrl?: string;
	once?: boolean;
}

function readOptions(): Options {
	return new Command()
		.name('npm start --')
		.description('Starts an n8n with these nodes in it and runs an example')
		.option('--port <number>', "port of n8n's editor", wholeNumber, 5678)
		.option('--service-port <number>', "port of the service's stand-in", wholeNumber, 8787)
		.option(
			'--base-url <url>',
			`use a real service instead of the stand-in (it charges!); its key is read from ${keyVariable}`,
		)
		.option('--once', 'end after printing the results')
		.parse()
		.opts<Options>();
}

/** Looked at before anything takes time. */
async function checkPort(number: number, option: string, what: string): Promise<void> {
	if ((await getPort({ port: number, host: '127.0.0.1' })) === number) return;
	throw new Halt(
		`Port ${number}, which ${what} should listen on, is taken by another program. ` +
			`End that program, or choose another port: npm start -- ${option} ${number + 10}`,
	);
}

async function run(options: Options): Promise<void> {
	const real = options.baseUrl === undefined ? undefined : realAccount(options.baseUrl);
	await checkPort(options.port, '--port', 'n8n');
	if (!real) await checkPort(options.servicePort, '--service-port', "the service's stand-in");

	const state = readState();
	await ensureN8n();
	await installBuilt();
	const settings = { taskMs, ...exampleSettings };
	const service = real
		? undefined
		: await startService({ port: options.servicePort, apiKey: state.serviceKey, settings });
	onCleanup(() => service?.close());
	const baseUrl = real?.baseUrl ?? service?.baseUrl ?? '';
	const apiKey = real?.apiKey ?? state.serviceKey;

	console.log('Starting n8n ...');
	rmSync(logFile, { force: true });
	const n8n = await startN8n({ logFile, userFolder: startFolder, port: options.port });
	const rest = await logIn(n8n.baseUrl, state);
	const examples = await importExamples(rest, n8n, { baseUrl, apiKey });
	const first = examples.get(firstExample);
	if (!first) throw new Halt(`examples/${firstExample}.json is missing.`);

	const where = `${service ? 'the stand-in' : 'the service'} at ${baseUrl}`;
	console.log(`Running "${first.name}" against ${where} ...`);
	const execution = await runFirst(rest, first);
	const succeeded = printResults(execution);
	if (options.once) {
		await cleanUp();
		process.exit(succeeded ? 0 : 1);
	}
	const names = [...examples.values()].map(({ name }) => name.replace('Media Generation: ', ''));
	const standIn = `${baseUrl} with the key ${apiKey}; docs/troubleshooting.md says how to make it fail`;
	const slowTask =
		'  To try    the option "Extra Body Fields" with {"stand_in": {"ms": 60000}} makes a task slow, to see Wait Mode: Suspend';
	const tones = '  Sounds    are tones and pictures are tiny: the stand-in has no voices';
	console.log(
		[
			'',
			`  Editor    ${n8n.baseUrl}/workflow/${first.id}/executions/${execution.id}`,
			`  Login     ${state.email}   ${state.password}`,
			`  Examples  ${names.join(' · ')}`,
			`  Files     ${filesFolder(startFolder)} is the only folder that Write File may use here`,
			`  Log       ${logFile}`,
			`  Service   ${service ? standIn : baseUrl}`,
			...(service ? [slowTask, tones] : []),
			'',
			'Ctrl-C ends it.',
		].join('\n'),
	);
	onCleanup(() => console.log('\nEnding n8n ...'));
	while (n8n.process.isRunning()) await delay(500);
	throw new Halt(`n8n ended by itself. The end of its log, ${logFile}, may say why.`);
}

runMain(async () => await run(readOptions()));
