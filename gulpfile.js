const { execFileSync } = require('node:child_process');
const { readdirSync, readFileSync, rmSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');
const { dest, series, src } = require('gulp');
const prettier = require('prettier');
const manifest = require('./package.json');
const { fillIn } = require('./scripts/publisher.cjs');
const { writeSchemas } = require('./scripts/schemas.cjs');

async function clean() {
	rmSync('dist', { recursive: true, force: true });
}

async function compile() {
	execFileSync(process.execPath, [require.resolve('typescript/bin/tsc'), '-p', 'tsconfig.json'], {
		stdio: 'inherit',
	});
}

/** Tabs, long lines and few marks make the package smaller than what tsc writes. It also writes empty files for types alone, a mark for default imports that nothing here has, sets each export twice, and calls imported functions as `(0, json_1.asText)()` because they could use `this`: none does. */
async function format() {
	const few = { semi: false, trailingComma: 'none', bracketSpacing: false, arrowParens: 'avoid' };
	const long = { useTabs: true, printWidth: 1000, objectWrap: 'collapse' };
	const options = { parser: 'babel', singleQuote: true, ...few, ...long };
	const files = readdirSync('dist', { recursive: true }).filter((file) => file.endsWith('.js'));
	for (const file of files.map((name) => join('dist', name))) {
		const code = readFileSync(file, 'utf8')
			.replace(/^exports\..* = void 0;$|^Object\.\w+\(exports, "__esModule", .*\);$/gm, '')
			.replace(/\(0, (\w+\.\w+)\)\(/g, '$1(');
		const isEmpty = /^"use strict";\s*$/.test(code);
		if (isEmpty) rmSync(file);
		else writeFileSync(file, await prettier.format(code, options));
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
exports.build = series(clean, compile, format, assets, schemas, addresses);
exports.default = exports.build;
