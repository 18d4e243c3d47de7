const { mkdirSync, readFileSync, rmSync, writeFileSync } = require('node:fs');
const { dirname, join, relative } = require('node:path');
const { dest, series, src } = require('gulp');
const prettier = require('prettier');
const ts = require('typescript');
const manifest = require('./package.json');
const { fillIn } = require('./scripts/publisher.cjs');
const { writeSchemas } = require('./scripts/schemas.cjs');

async function clean() {
	rmSync('dist', { recursive: true, force: true });
}

/**
 * Types are not checked here, which takes longer than all the rest: `npm run typecheck` does it.
 *
 * Tabs, long lines and few marks make the package smaller than what TypeScript writes. So do CommonJS modules as one writes them by hand, which also read better: TypeScript calls each imported function as `(0, json_1.asText)()`, because it could use `this`, sets each export twice, and writes empty files for types alone.
 */
async function compile() {
	const few = { semi: false, trailingComma: 'none', bracketSpacing: false, arrowParens: 'avoid' };
	const long = { useTabs: true, printWidth: 1000, objectWrap: 'collapse' };
	const style = { parser: 'babel', singleQuote: true, ...few, ...long };
	const { config } = ts.readConfigFile('tsconfig.json', ts.sys.readFile);
	const { options, fileNames } = ts.parseJsonConfigFileContent(config, ts.sys, __dirname);
	const compilerOptions = { ...options, module: ts.ModuleKind.ES2022 };
	for (const fileName of fileNames) {
		const source = readFileSync(fileName, 'utf8');
		const { outputText } = ts.transpileModule(source, { compilerOptions, fileName });
		if (/^\s*export \{\};\s*$/.test(outputText)) continue;
		const file = join('dist', relative(__dirname, fileName)).replace(/ts$/, 'js');
		mkdirSync(dirname(file), { recursive: true });
		writeFileSync(file, await prettier.format(asCommonJs(outputText, fileName), style));
	}
}

/** Sources have no default exports, no re-exports and no circles, which this doesn't know. */
function asCommonJs(code, fileName) {
	const exported = [];
	const body = code
		.replace(/^import \* as (\w+) from (.*);$/gm, 'const $1 = require($2);')
		.replace(
			/^import (\{[^}]*\}) from (.*);$/gm,
			(_, names, from) => `const ${names.replace(/ as /g, ': ')} = require(${from});`,
		)
		.replace(/await import\(/g, 'require(')
		.replace(/^export ((?:async )?(?:function\*?|const|class) (\w+))/gm, (_, declared, name) => {
			exported.push(name);
			return declared;
		});
	const left = /^(import|export) .*/m.exec(body);
	if (left) throw new Error(`gulpfile.js can't compile this line of ${fileName}: ${left[0]}`);
	return `'use strict';\n${body}\nmodule.exports = { ${exported.join(', ')} };`;
}

/** Icons and codex files lie beside the compiled classes: n8n looks for them there. */
function assets() {
	return src(['nodes/**/*.{svg,json}', 'icons/**/*.svg'], { base: '.', encoding: false }).pipe(
		dest('dist'),
	);
}

/** The repository's address, where the sources name a stand-in for it. */
async function addresses() {
	fillIn('dist', manifest);
}

/** What the editor offers of a node's output before its first run. */
async function schemas() {
	writeSchemas(join(__dirname, 'dist', 'nodes', 'MediaGeneration'));
}

exports.assets = assets;
exports.build = series(clean, compile, assets, schemas, addresses);
exports.default = exports.build;
