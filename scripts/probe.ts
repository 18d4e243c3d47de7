/** `npm run probe -- --base-url URL`: asks a service what decides how the nodes are set up. Makes nothing without `--spend`. */
import { Command } from 'commander';
import { keyVariable, realAccount, wholeNumber } from './account';
import { runMain } from './halt';
import { probe, printed } from './questions';

runMain(async () => {
	const options = new Command('npm run probe --')
		.description(`Compares a service with what the nodes expect; its key is in ${keyVariable}`)
		.requiredOption('--base-url <url>', 'address of the service')
		.option('--spend', 'make one sound effect, which costs credits')
		.option('--callback <url>', 'its callback address, if it leads to this machine')
		.option('--port <number>', 'where this machine listens for the callback', wholeNumber, 8790)
		.option('--patience <seconds>', 'how long to wait for the task', wholeNumber, 900)
		.parse()
		.opts<{ baseUrl: string; spend?: true; callback?: string; port: number; patience: number }>();
	const account = realAccount(options.baseUrl);
	const findings = await probe({ ...options, ...account, pollMs: 2_000, log: console.log });
	console.log(`\n${printed(findings)}\n`);
});
