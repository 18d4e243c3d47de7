/** `npm run probe -- --base-url URL`: what a service does, beside what the nodes expect. Makes nothing, unless `--spend` or `--callback` is given. */
import { Command } from 'commander';
import { keyVariable, realAccount, wholeNumber } from './account';
import { Halt, runMain } from './halt';
import { printed } from './probe/findings';
import { probe } from './probe/index';
import { defaultValues, type ProbeOptions } from './probe/making';

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

runMain(async () => {
	const options = command.parse().opts<ProbeOptions>();
	const account = realAccount(options.baseUrl);
	if (options.callback !== undefined && !URL.canParse(options.callback))
		throw new Halt(
			`"${options.callback}" is not a URL. Give the address that leads to this machine, e.g. of a tunnel.`,
		);
	const findings = await probe({ ...options, ...account, pollMs: 2000, log: console.log });
	console.log(`\n${printed(findings)}\n`);
});
