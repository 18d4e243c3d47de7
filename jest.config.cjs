/** Unit and engine tests. The suites in a real n8n have runners of their own (scripts/). */
module.exports = {
	testEnvironment: 'node',
	roots: [
		'<rootDir>/test/unit',
		'<rootDir>/test/package',
		'<rootDir>/test/engine',
		'<rootDir>/test/model',
	],
	testMatch: ['**/*.test.ts'],
	transform: { '^.+\\.ts$': ['ts-jest', { tsconfig: 'tsconfig.test.json', diagnostics: false }] },
	// Only what hangs reaches it: a busy machine is no failure.
	testTimeout: 90_000,
	// The engine's tests mostly wait, for a service that takes its time: two cores serve eight of them.
	maxWorkers: 8,
	// A worker keeps much of what its suites have loaded; a new one takes over.
	workerIdleMemoryLimit: '600MB',
	// Tests run in a context of their own, where looking up a global costs a hundred times what it costs elsewhere. These are the ones
	// that simulations look up millions of times.
	sandboxInjectedGlobals: ['Math', 'Infinity', 'Number'],
};
