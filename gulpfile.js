const { execFileSync } = require('node:child_process');
const { rmSync } = require('node:fs');
const { dest, series, src } = require('gulp');
const manifest = require('./package.json');
const { fillIn } = require('./scripts/publisher.cjs');

async function clean() {
	rmSync('dist', { recursive: true, force: true });
}

async function compile() {
	execFileSync(process.execPath, [require.resolve('typescript/bin/tsc'), '-p', 'tsconfig.json'], {
		stdio: 'inherit',
	});
}

/** Icons and codex files lie beside the compiled classes: n8n looks for them there. */
function assets() {
	return src(['nodes/**/*.{svg,json}', 'icons/**/*.svg'], { base: '.', encoding: false }).pipe(
		dest('dist'),
	);
}

/** The editor asks for the schemas of the node's own version; those of the two versions are the same. */
function schemas() {
	const folder = 'nodes/MediaGeneration/__schema__';
	return src(`${folder}/v1.0.0/**/*.json`).pipe(dest(`dist/${folder}/v1.1.0`));
}

/** The repository's address, where the sources name a stand-in for it. */
async function addresses() {
	fillIn('dist', manifest);
}

exports.assets = assets;
exports.build = series(clean, compile, assets, schemas, addresses);
exports.default = exports.build;
