/** Jest's transform: esbuild, with no types checked. */
const { transformSync } = require('esbuild');

exports.process = (source, path, { transformerConfig }) =>
	transformSync(source, { ...transformerConfig, loader: 'ts', sourcefile: path });
