import { Command } from 'commander';
import { Halt, runMain } from '../scripts/halt';
import '../scripts/cleanup';
import { save, writeDocs } from './docs';
import { type Bench, isMet, type SavedReport, textMarks, textReport } from './report';

const benches = ['schedule', 'overhead', 'memory', 'batch', 'sleep', 'neighbours', 'processes'];

async function runBench(name: string): Promise<SavedReport> {
	// Loaded only when wanted.
	const { bench } = (await import(`./${name}`)) as { bench: Bench };
	console.log(`\n${name}: ${bench.title} ...`);
	const started = Date.now();
	const report = await bench.run((line) => console.log(`  ${line}`));
	const saved: SavedReport = {
		name,
		title: bench.title,
		on: `Node.js ${process.version}`,
		tookS: Math.round((Date.now() - started) / 1000),
		...report,
	};
	save(name, saved);
	console.log(`\n${textReport(saved)}\n(${saved.tookS} s)`);
	return saved;
}

runMain(async () => {
	const program = new Command()
		.name('npm run bench --')
		.description(
			'Measures the nodes beside what one would build otherwise; the package must be built',
		)
		.argument('[name...]', `only these: ${benches.join(', ')}`)
		.option(
			'--write',
			'write docs/benchmarks.md from the last results; what has none stays as it is',
		)
		.parse();
	const names = program.args.length === 0 ? benches : program.args;
	const reports: SavedReport[] = [];
	const failed: string[] = [];
	for (const name of names) {
		if (name === 'none') continue; // Only --write.
		if (!benches.includes(name))
			throw new Halt(`There is no bench ${name}. There are: ${benches.join(', ')}.`);
		try {
			reports.push(await runBench(name));
		} catch (error) {
			// One bench that can't run leaves the others their turn.
			failed.push(name);
			console.error(error);
		}
	}
	const marks = reports.flatMap(({ marks }) => marks);
	if (marks.length > 0) {
		const met = marks.filter(isMet).length;
		console.log(`\n== ${met} of ${marks.length} marks met`);
		console.log(textMarks(marks));
	}
	if (program.opts<{ write?: boolean }>().write === true) await writeDocs(benches);
	if (failed.length > 0) throw new Halt(`Not measured: ${failed.join(', ')}.`);
});
