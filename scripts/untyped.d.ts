declare module 'eslint-plugin-n8n-nodes-base' {
	import type { ESLint, Linter } from 'eslint';

	const plugin: ESLint.Plugin & {
		configs: Record<'community' | 'credentials' | 'nodes', Linter.Config>;
	};
	export default plugin;
}
