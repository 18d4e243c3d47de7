// Loaded into n8n before everything else: on SIGUSR2 collects garbage, and then writes what the process holds into a file.
const { writeFileSync, renameSync } = require('node:fs');
const v8 = require('node:v8');
const { runInNewContext } = require('node:vm');

v8.setFlagsFromString('--expose_gc');
const collect = runInNewContext('gc');

process.on('SIGUSR2', () => {
	const file = process.env.MEDIA_GENERATION_MEMORY_FILE;
	if (file === undefined) return;
	for (let round = 0; round < 3; round += 1) collect();
	writeFileSync(`${file}.part`, JSON.stringify(process.memoryUsage()));
	renameSync(`${file}.part`, file);
});
