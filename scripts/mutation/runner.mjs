/**
 * A runner for Stryker that runs jest's tests without jest: a run of jest takes half a second for each file before the first
 * test has begun, and here are thousands of runs. The tests are jest's (describe, test, expect, jest.spyOn, ...), its packages run
 * them; only what jest does around them is left out. Instead of a context for each file, the modules of the project are loaded
 * again for each run, so that nothing is left of the run before. The unit tests run first, and those in n8n's engine only while the
 * mutant lives.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire, Module } from 'node:module';
import { join, sep } from 'node:path';
import { jestExpect } from '@jest/expect';
import { ModernFakeTimers } from '@jest/fake-timers';
import * as circus from 'jest-circus';
import { ModuleMocker } from 'jest-mock';
import typescript from 'typescript';

/** Where the mutated code is: Stryker goes there before it makes the runner. */
let sandbox = '';
const inProject = (file) =>
	file.startsWith(sandbox + sep) && !file.includes(`${sep}node_modules${sep}`);
const inEngine = (file) => file.includes(`${sep}engine${sep}`);
const TEST_TIMEOUT_MS = 30_000;

/** Whether this is the first run, which finds out what each test reaches. */
let counting = false;
/** After the functions that Stryker puts at the beginning of what it has changed. */
const COUNTER = /^stryNS_9fa48\(\);$/m;

/** Compiled once in the life of this process: in the sandbox nothing changes. */
const compiled = new Map();
const compilerOptions = {
	module: typescript.ModuleKind.CommonJS,
	target: typescript.ScriptTarget.ES2022,
	esModuleInterop: true,
};

function compile(file) {
	const source = readFileSync(file, 'utf8');
	const { outputText } = typescript.transpileModule(source, { compilerOptions, fileName: file });
	// Counting what each test reaches takes most of the time of a simulation, and is of use in the first run only.
	return counting ? outputText : outputText.replace(COUNTER, '$&stryCov_9fa48 = () => {};');
}

/** TypeScript is compiled when it is loaded, and what is built (the engine's tests load it) is replaced by its source. */
function hookLoading() {
	Module._extensions['.ts'] = (module, file) => {
		if (!compiled.has(file)) compiled.set(file, compile(file));
		module._compile(compiled.get(file), file);
	};
	// As in jest, a source comes before a JSON file of the same name.
	for (const later of ['.json', '.node']) {
		const load = Module._extensions[later];
		delete Module._extensions[later];
		Module._extensions[later] = load;
	}
	const resolve = Module._resolveFilename;
	const built = join(sandbox, 'dist') + sep;
	Module._resolveFilename = function (request, ...rest) {
		const source = request.startsWith(built)
			? join(sandbox, request.slice(built.length)).replace(/\.js$/, '.ts')
			: request;
		return resolve.call(this, source, ...rest);
	};
}

function forgetModules() {
	for (const file of Object.keys(Module._cache)) if (inProject(file)) delete Module._cache[file];
}

const fakeTimers = new ModernFakeTimers({ config: { fakeTimers: {} }, global: globalThis });

const mocker = new ModuleMocker(globalThis);

/** What the tests use of the object `jest`. */
const jestFor = (requireFrom) => ({
	spyOn: mocker.spyOn.bind(mocker),
	restoreAllMocks: () => mocker.restoreAllMocks(),
	resetModules: forgetModules,
	requireActual: requireFrom,
	useFakeTimers: (options) => fakeTimers.useFakeTimers(options),
	useRealTimers: () => fakeTimers.useRealTimers(),
	advanceTimersByTime: (ms) => fakeTimers.advanceTimersByTime(ms),
	advanceTimersByTimeAsync: (ms) => fakeTimers.advanceTimersByTimeAsync(ms),
	getTimerCount: () => fakeTimers.getTimerCount(),
});

const stryker = (globalThis.__stryker__ ??= {});

/** The test that runs now, for errors that come from nowhere. */
let running;
const strayError = (error) => running?.errors.push(error);

function titleOf(test) {
	const titles = [test.name];
	for (let block = test.parent; block?.parent; block = block.parent) titles.unshift(block.name);
	return titles.join(' ');
}

/** What the tests of a file came to. `wanted`: the IDs to run; `bail`: nothing more after the first failure. */
async function runFile(file, { wanted, bail }) {
	const prefix = file.slice(join(sandbox, 'test').length + 1);
	const idOf = (test) => `${prefix}: ${titleOf(test)}`;
	const results = [];
	let failed = false;
	const onEvent = ({ name, test, describeBlock }) => {
		if (name === 'test_start') {
			if ((wanted !== undefined && !wanted.has(idOf(test))) || (bail && failed)) test.mode = 'skip';
		} else if (name === 'test_started') {
			running = test;
			stryker.currentTestId = idOf(test);
		} else if (name === 'test_done') {
			running = undefined;
			stryker.currentTestId = undefined;
			failed ||= test.errors.length > 0;
			results.push(resultOf(file, idOf(test), test));
		} else if (name === 'hook_failure' && test === undefined && describeBlock !== undefined) {
			failed = true;
		}
	};
	forgetModules();
	circus.resetState();
	circus.setState({ ...circus.getState(), testTimeout: TEST_TIMEOUT_MS });
	const requireFrom = createRequire(file);
	const { describe, it, test, beforeAll, beforeEach, afterAll, afterEach } = circus;
	Object.assign(globalThis, { describe, it, test, beforeAll, beforeEach, afterAll, afterEach });
	Object.assign(globalThis, { expect: jestExpect, jest: jestFor(requireFrom) });
	circus.addEventHandler(onEvent);
	try {
		requireFrom(file);
		await circus.run();
		const stray = circus.getState().unhandledErrors;
		if (stray.length > 0 && !failed) throw stray[0];
	} catch (error) {
		results.push(resultOf(file, `${prefix}: loading`, { errors: [error], duration: 0 }));
	} finally {
		circus.removeEventHandler(onEvent);
	}
	return results;
}

/** As Stryker wants it: 0 is passed, 1 failed. */
function resultOf(fileName, id, { errors, duration }) {
	const common = { id, name: id, fileName, timeSpentMs: duration ?? 0 };
	if (errors.length === 0) return { ...common, status: 0 };
	const [first] = errors.flat();
	return { ...common, status: 1, failureMessage: String(first?.stack ?? first).slice(0, 2_000) };
}

class Runner {
	static inject = ['options'];

	constructor(options) {
		sandbox = process.cwd();
		this.notes = join(sandbox, 'test-files.json');
		this.files = options.testsOfFolder.map((name) => join(sandbox, 'test', `${name}.test.ts`));
	}

	capabilities() {
		return { reloadEnvironment: true };
	}

	init() {
		hookLoading();
		process.on('uncaughtException', strayError).on('unhandledRejection', strayError);
		process.env.NODE_ENV = 'test';
	}

	async dryRun() {
		counting = true;
		compiled.clear();
		stryker.mutantCoverage = { static: {}, perTest: {} };
		const tests = [];
		for (const file of this.files) {
			// Stryker knows a test of an earlier run by its name: one whose file has changed is another one.
			const version = createHash('sha256').update(readFileSync(file)).digest('hex').slice(0, 8);
			const results = await runFile(file, { bail: false });
			tests.push(...results.map((test) => ({ ...test, name: `${test.name} (${version})` })));
		}
		const notes = tests.map(({ id, fileName, timeSpentMs }) => [id, fileName, timeSpentMs]);
		writeFileSync(this.notes, JSON.stringify(notes));
		return { status: 'complete', tests, mutantCoverage: stryker.mutantCoverage };
	}

	readNotes() {
		if (this.fileOf !== undefined) return;
		const notes = JSON.parse(readFileSync(this.notes, 'utf8'));
		this.fileOf = new Map(notes.map(([id, file]) => [id, file]));
		const cost = (file) =>
			(inEngine(file) ? 1e9 : 0) +
			notes.reduce((sum, [, its, timeMs]) => (its === file ? sum + timeMs : sum), 0);
		this.files.sort((a, b) => cost(a) - cost(b));
	}

	/** The files to run one after the other, the cheapest first, each with the tests in it that are wanted. */
	plan(testFilter) {
		this.readNotes();
		if (testFilter === undefined) {
			// The mutant is met while modules are loaded, so that no test is known to reach it. In the engine that would be all of them.
			const unit = this.files.filter((file) => !inEngine(file));
			return (unit.length > 0 ? unit : this.files).map((file) => ({ file }));
		}
		const wanted = new Set(testFilter);
		const files = new Set(testFilter.map((id) => this.fileOf.get(id)));
		return this.files.filter((file) => files.has(file)).map((file) => ({ file, wanted }));
	}

	async mutantRun({ activeMutant, testFilter, hitLimit }) {
		if (counting) compiled.clear();
		counting = false;
		Object.assign(stryker, { hitLimit, hitCount: hitLimit === undefined ? undefined : 0 });
		stryker.activeMutant = activeMutant.id.toString();
		let nrOfTests = 0;
		try {
			for (const { file, wanted } of this.plan(testFilter)) {
				const results = await runFile(file, { wanted, bail: true });
				nrOfTests += results.length;
				if (hitLimit !== undefined && stryker.hitCount > hitLimit)
					return { status: 'timeout', reason: `hit ${stryker.hitCount} times` };
				const failed = results.find(({ status }) => status === 1);
				if (failed !== undefined) {
					const { id, failureMessage } = failed;
					return { status: 'killed', killedBy: [id], failureMessage, nrOfTests };
				}
			}
			return { status: 'survived', nrOfTests };
		} finally {
			stryker.activeMutant = undefined;
		}
	}
}

export const strykerPlugins = [{ kind: 'TestRunner', name: 'inProcess', injectableClass: Runner }];
