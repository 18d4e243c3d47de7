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
 * Tabs, long lines and few marks make the package smaller than what TypeScript writes. It also writes empty files for types alone, a mark for default imports that nothing here has, sets each export twice, and calls imported functions as `(0, json_1.asText)()` because they could use `this`: none does.
 */
async function compile() {
	const few = { semi: false, trailingComma: 'none', bracketSpacing: false, arrowParens: 'avoid' };
	const long = { useTabs: true, printWidth: 1000, objectWrap: 'collapse' };
	const style = { parser: 'babel', singleQuote: true, ...few, ...long };
	const { config } = ts.readConfigFile('tsconfig.json', ts.sys.readFile);
	const { options, fileNames } = ts.parseJsonConfigFileContent(config, ts.sys, __dirname);
	for (const fileName of fileNames) {
		const source = readFileSync(fileName, 'utf8');
		const code = ts
			.transpileModule(source, { compilerOptions: options, fileName })
			.outputText.replace(
				/^exports\..* = void 0;$|^Object\.\w+\(exports, "__esModule", .*\);$/gm,
				'',
			)
			.replace(/\(0, (\w+\.\w+)\)\(/g, '$1(');
		const file = join('dist', relative(__dirname, fileName)).replace(/ts$/, 'js');
		if (/^"use strict";\s*$/.test(code)) continue;
		mkdirSync(dirname(file), { recursive: true });
		writeFileSync(file, await prettier.format(code, style));
	}
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
