/** Unit and engine tests. The suites in a real n8n have runners of their own (scripts/). */
module.exports = {
	testEnvironment: 'node',
	roots: ['<rootDir>/test/unit', '<rootDir>/test/package', '<rootDir>/test/engine'],
	testMatch: ['**/*.test.ts'],
	transform: { '^.+\\.ts$': ['ts-jest', { tsconfig: 'tsconfig.test.json', diagnostics: false }] },
	testTimeout: 30_000,
	maxWorkers: 2,
};
