/** Unit and engine tests. The suites in a real n8n have runners of their own (scripts/). */
import { createRequire } from 'node:module';
import { defineConfig } from 'vitest/config';

const { resolve } = createRequire(import.meta.url);

export default defineConfig({
	// As Node.js loads them for what is built, so that both have the same classes of errors.
	resolve: {
		alias: {
			'n8n-workflow': resolve(process.env.N8N_WORKFLOW ?? 'n8n-workflow'),
			'@n8n/backend-network': resolve('@n8n/backend-network'),
		},
	},
	test: {
		globals: true,
		include: ['test/{unit,package,engine,model}/**/*.test.ts'],
		// Only what hangs reaches it: a busy machine is no failure.
		testTimeout: 90_000,
		hookTimeout: 90_000,
		// n8n's packages are loaded once in a process; the modules of the project anew for each file, so that none remembers another.
		isolate: false,
		setupFiles: ['test/freshModules.ts'],
		// The engine's tests mostly wait, for a service that takes its time: two cores serve ten of them.
		maxWorkers: 10,
	},
});
