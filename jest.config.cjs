/** Unit, model, engine and package tests. The suites in a real n8n have runners of their own (scripts/). */
const { N8N_WORKFLOW } = process.env;

module.exports = {
	roots: ['unit', 'model', 'engine', 'package'].map((level) => `<rootDir>/test/${level}`),
	testMatch: ['**/*.test.ts'],
	transform: {
		'\\.ts$': [
			'<rootDir>/test/esbuild.cjs',
			// Jest has no import(), but loads what it names.
			{
				format: 'cjs',
				target: 'node20',
				sourcemap: 'inline',
				supported: { 'dynamic-import': false },
			},
		],
	},
	moduleNameMapper: N8N_WORKFLOW === undefined ? {} : { '^n8n-workflow$': N8N_WORKFLOW },
	// Only what hangs reaches it: a busy machine is no failure.
	testTimeout: 90_000,
	// All tests compute, those of the engine as well: their time runs ahead.
	maxWorkers: '100%',
	// A worker keeps much of what its files have loaded; a new one takes over.
	workerIdleMemoryLimit: '600MB',
	// In a file's own context it costs a hundred times as much to look up a global. Simulations look these up millions of times.
	sandboxInjectedGlobals: ['Math', 'Infinity', 'Number'],
};
