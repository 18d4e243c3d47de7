/**
 * `npm run probe -- --base-url URL`: what a real service does where docs/service.md leaves it open, beside what the nodes expect. Reads
 * only, unless `--spend` or `--callback` is given.
 */
import { Command } from 'commander';
import { keyVariable, realAccount, wholeNumber } from './account';
import { Halt, runMain } from './halt';
import { printed } from './probe/findings';
import { probe } from './probe/index';
import { defaultValues, type Values } from './probe/making';

const pollMs = 2000;

interface Options extends Values {
	baseUrl: string;
	spend?: boolean;
	callback?: string;
	port: number;
	watch: number;
	patience: number;
}

function readOptions(): Options {
	const command = new Command('npm run probe --')
		.description(`Compares a service with what the nodes expect; its key is in ${keyVariable}`)
		.requiredOption('--base-url <url>', 'address of the service')
		.option('--spend', 'make one task of each kind, which costs credits')
		.option('--callback <url>', 'make one task with this callback address of this machine')
		.option('--port <number>', 'where this machine listens for the callback', wholeNumber, 8790)
		.option('--watch <seconds>', 'how long to watch for repeats of the callback', wholeNumber, 120)
		.option('--patience <seconds>', 'how long to wait for one task', wholeNumber, 900);
	for (const [name, value] of Object.entries(defaultValues)) {
		const words = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
		command.option(`--${words} <value>`, 'what tasks of --spend are made with', value);
	}
	return command.parse().opts<Options>();
}

runMain(async () => {
	const options = readOptions();
	const { baseUrl, spend, port, callback: url, watch, patience } = options;
	const account = realAccount(baseUrl);
	if (url !== undefined && !URL.canParse(url))
		throw new Halt(
			`"${url}" is not a URL. Give the address that leads to this machine, e.g. of a tunnel.`,
		);
	const patienceMs = patience * 1000;
	const findings = await probe({
		...account,
		...(spend === true ? { spend: { ...options, pollMs, patienceMs } } : {}),
		...(url === undefined ? {} : { callback: { url, port, patienceMs, watchMs: watch * 1000 } }),
		log: (text) => console.log(text),
	});
	console.log(`\n${printed(findings)}\n`);
});
