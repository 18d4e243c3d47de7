import communityNodes from '@n8n/eslint-plugin-community-nodes';
import n8nNodesBase from 'eslint-plugin-n8n-nodes-base';
import tseslint from 'typescript-eslint';

export default tseslint.config(
	{
		ignores: [
			'dist/**',
			'node_modules/**',
			'bench/out/**',
			'test-results/**',
			'.n8n-start/**',
			'.stryker-tmp/**',
			'reports/**',
			'*.cjs',
			'gulpfile.js',
		],
	},
	{ linterOptions: { reportUnusedDisableDirectives: 'error', noInlineConfig: true } },
	...tseslint.configs.recommendedTypeChecked.map((config) => ({ ...config, files: ['**/*.ts'] })),
	{
		files: ['**/*.ts'],
		languageOptions: {
			parserOptions: { project: './tsconfig.test.json', tsconfigRootDir: import.meta.dirname },
		},
		rules: {
			'@typescript-eslint/no-explicit-any': 'error',
			'@typescript-eslint/no-floating-promises': 'error',
			'@typescript-eslint/no-unused-vars': [
				'error',
				{ varsIgnorePattern: '^_', argsIgnorePattern: '^_' },
			],
			'@typescript-eslint/consistent-type-imports': 'error',
			'@typescript-eslint/switch-exhaustiveness-check': [
				'error',
				{ considerDefaultExhaustiveForUnions: true },
			],
		},
	},
	// The rules that n8n's own scanner applies to a community package.
	{
		...communityNodes.configs.recommended,
		files: ['nodes/**/*.ts', 'credentials/**/*.ts', 'package.json'],
	},
	{
		files: ['package.json'],
		languageOptions: { parser: tseslint.parser, parserOptions: { extraFileExtensions: ['.json'] } },
	},
	{
		files: ['nodes/**/*.ts'],
		plugins: { 'n8n-nodes-base': n8nNodesBase },
		rules: {
			...n8nNodesBase.configs.nodes.rules,
			// They ask for the literal 'main'; the community rules of today ask for NodeConnectionTypes.Main.
			'n8n-nodes-base/node-class-description-inputs-wrong-regular-node': 'off',
			'n8n-nodes-base/node-class-description-outputs-wrong': 'off',
		},
	},
	{
		files: ['credentials/**/*.ts'],
		plugins: { 'n8n-nodes-base': n8nNodesBase },
		rules: {
			...n8nNodesBase.configs.credentials.rules,
			// It asks for a key of n8n's own documentation; the community rules ask for a URL.
			'n8n-nodes-base/cred-class-field-documentation-url-miscased': 'off',
		},
	},
	// The arguments of a call lie on the stack: a list that somebody else sends can overflow it.
	{
		files: ['nodes/**/*.ts', 'credentials/**/*.ts'],
		rules: {
			'no-restricted-syntax': [
				'error',
				{
					selector: ':matches(CallExpression, NewExpression) > SpreadElement.arguments',
					message: 'A long list overflows the stack. Use concat, reduce or a loop.',
				},
				{
					selector: "CallExpression[callee.property.name='apply']",
					message: 'A long list overflows the stack. Use concat, reduce or a loop.',
				},
			],
		},
	},
	// n8n's interfaces want promises, also from methods that have nothing to wait for.
	{
		files: ['nodes/**/*.node.ts', 'credentials/**/*.ts'],
		rules: { '@typescript-eslint/require-await': 'off' },
	},
	{
		files: ['test/n8n/**/*.ts', 'test/queue/**/*.ts', 'test/browser/**/*.ts'],
		rules: {
			'@typescript-eslint/no-floating-promises': [
				'error',
				{
					allowForKnownSafeCalls: [
						{ from: 'package', package: 'node:test', name: ['describe', 'it', 'suite', 'test'] },
					],
				},
			],
		},
	},
);
