/**
 * `npm run probe -- --base-url URL`: what a real service does where docs/service.md leaves it open, beside what the nodes expect. Reads
 * only, unless `--spend` or `--callback` is given. The key comes from the environment and is never printed.
 */
import { Command, InvalidArgumentError } from 'commander';
import { apiKeyProblem, baseUrlProblem } from '../nodes/MediaGeneration/service/baseUrl';
import { Halt, runMain } from './halt';
import { printed } from './probe/findings';
import { probe } from './probe/index';
import { defaultValues, type Values } from './probe/making';

const keyVariable = 'MEDIA_GENERATION_API_KEY';
const pollMs = 2000;

interface Options extends Values {
	baseUrl: string;
	spend?: boolean;
	callback?: string;
	port: number;
	watch: number;
	patience: number;
}

function positive(text: string): number {
	const value = Number(text);
	if (Number.isInteger(value) && value > 0) return value;
	throw new InvalidArgumentError('It must be a whole number above 0.');
}

function readOptions(): Options {
	const command = new Command('npm run probe --')
		.description(`Compares a service with what the nodes expect; its key is in ${keyVariable}`)
		.requiredOption('--base-url <url>', 'address of the service')
		.option('--spend', 'make one task of each kind, which costs credits')
		.option('--callback <url>', 'make one task with this callback address of this machine')
		.option('--port <number>', 'where this machine listens for the callback', positive, 8790)
		.option('--watch <seconds>', 'how long to watch for repeats of the callback', positive, 120)
		.option('--patience <seconds>', 'how long to wait for one task', positive, 900);
	for (const [name, value] of Object.entries(defaultValues)) {
		const words = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
		command.option(`--${words} <value>`, 'what tasks of --spend are made with', value);
	}
	return command.parse().opts<Options>();
}

function checkedKey({ baseUrl, callback }: Options): string {
	const apiKey = process.env[keyVariable] ?? '';
	const problem = baseUrlProblem(baseUrl);
	if (problem !== undefined) throw new Halt(problem.replace(' of the credential', ''));
	if (apiKeyProblem(apiKey) !== undefined)
		throw new Halt(
			`The API key is read from the environment: set ${keyVariable} to the key, which starts with sk_.`,
		);
	if (callback !== undefined && !URL.canParse(callback))
		throw new Halt(
			`"${callback}" is not a URL. Give the address that leads to this machine, e.g. of a tunnel.`,
		);
	return apiKey;
}

runMain(async () => {
	const options = readOptions();
	const { baseUrl, spend, port, callback: url, watch, patience } = options;
	const patienceMs = patience * 1000;
	const findings = await probe({
		baseUrl,
		apiKey: checkedKey(options),
		...(spend === true ? { spend: { ...options, pollMs, patienceMs } } : {}),
		...(url === undefined ? {} : { callback: { url, port, patienceMs, watchMs: watch * 1000 } }),
		log: (text) => console.log(text),
	});
	console.log(`\n${printed(findings)}\n`);
});
