import { Command, InvalidArgumentError, Option } from 'commander';
import { PortTakenError, profiles, startService, type ProfileName } from './index';

function wholeNumber(text: string): number {
	if (!/^\d+$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
	return Number(text);
}

function portNumber(text: string): number {
	const port = wholeNumber(text);
	if (port > 65_535) throw new InvalidArgumentError('It must be a port, 0 to 65535.');
	return port;
}

function secret(text: string): string {
	if (!/^sk_\S+$/.test(text)) throw new InvalidArgumentError('An API key begins with sk_.');
	return text;
}

interface CliOptions {
	profile: ProfileName;
	port: number;
	taskMs?: number;
	credits?: number;
	key?: string;
	seed?: number;
}

/** `npm run service`: the stand-in alone, until Ctrl-C. */
async function main(): Promise<void> {
	const program = new Command('npm run service --')
		.description('A stand-in for the media generation service, on 127.0.0.1')
		.option('--port <number>', 'port of the API', portNumber, 8787)
		.option('--task-ms <ms>', 'how long a task takes', wholeNumber)
		.option('--credits <number>', 'the balance at the start', wholeNumber)
		.option('--key <sk_...>', 'the API key (default: a random one)', secret)
		.option('--seed <number>', 'seed of all random choices', wholeNumber)
		.addOption(
			new Option('--profile <name>', 'which services it behaves like')
				.choices(Object.keys(profiles))
				.default('specification'),
		)
		.parse();
	const { profile, port, taskMs, credits, key, seed } = program.opts<CliOptions>();
	const standIn = await startService({
		port,
		profile,
		settings: {
			lists: { tasks: true },
			...(taskMs === undefined ? {} : { taskMs }),
			...(credits === undefined ? {} : { credits }),
		},
		apiKey: key,
		seed,
	});
	process.stdout.write(
		[
			`Base URL    ${standIn.baseUrl}`,
			`Files       ${standIn.fileUrl}`,
			`Third host  ${standIn.otherUrl}`,
			`API key     ${standIn.apiKey}`,
			`Tasks       ${standIn.baseUrl}/_control/tasks`,
			'Ctrl-C ends it.',
			'',
		].join('\n'),
	);
	const end = () => {
		void standIn.close().then(() => process.exit(0));
	};
	process.once('SIGINT', end);
	process.once('SIGTERM', end);
}

main().catch((error: unknown) => {
	const words =
		error instanceof PortTakenError
			? `${error.message}. Choose another one: see --help.`
			: String(error);
	process.stderr.write(`${words}\n`);
	process.exitCode = 1;
});
