/**
 * What the operations put out, in one place: n8n's editor offers these fields before a node has run. The build writes a schema for each
 * operation. One that makes files, or waits for them, needs no entry here.
 */
const { mkdirSync, writeFileSync } = require('node:fs');
const { dirname, join } = require('node:path');

const text = 'string';
const number = 'number';
const file = {
	...{ kind: text, binaryProperty: text, fileName: text, mimeType: text },
	...{ fileSize: number, durationSeconds: number },
};
const outputs = [{ url: text, ...file }];
const task = {
	...{ id: text, task_id: text, status: text, progress: number, type: text },
	...{ created_at: text, credit_cost: number },
	metadata: { output_uri: text, audio_url: text },
	outputs,
};
const byOperation = {
	'task:get': { ...task, outputs: [{ url: text, kind: text }] },
	'task:getAll': { ...task, outputs: [{ url: text, kind: text }] },
	'task:delete': {
		...{ deleted: 'boolean', task_ids: [text], refunded_credits: number },
		kept: [{ task_id: text, status: text }],
	},
	'audio:join': {
		parts: [{ part: number, item: number, start: number, end: number }],
		// A joined file has no address.
		...{ duration_seconds: number, group: text, outputs: [file] },
	},
	'image:getPrice': { success: 'boolean', credits: number },
	'voice:getAll': {
		...{ voice_id: text, name: text, provider: text },
		...{ language: text, gender: text, description: text },
	},
	'model:getAll': { model_id: text, name: text, description: text },
	'credits:get': { success: 'boolean', credits: number },
	// The records are the service's own.
	'apiKey:getAll': {},
};
const trigger = {
	...task,
	...{ verified: 'boolean', reference: text, reference_verified: 'boolean', error_message: text },
	download_error: text,
};

/** An object stands for its properties, a list for what is in it. */
function schemaOf(shape) {
	if (typeof shape === 'string') return { type: shape };
	if (Array.isArray(shape)) return { type: 'array', items: schemaOf(shape[0]) };
	const properties = Object.entries(shape).map(([name, each]) => [name, schemaOf(each)]);
	return { type: 'object', properties: Object.fromEntries(properties) };
}

/** The schema of an operation of the table in `actions/index.ts`. */
function outputOf(resource, operation) {
	const name = `${resource.value}:${operation.value}`;
	const makesFiles = ['creates', 'awaits'].includes(operation.work.kind);
	const shape = byOperation[name] ?? (makesFiles ? task : undefined);
	if (shape === undefined)
		throw new Error(`scripts/schemas.cjs does not say what ${name} puts out`);
	return { ...schemaOf(shape), version: 1 };
}

/**
 * Files below `__schema__`, where n8n looks for them by the node's version.
 * @returns {Record<string, { properties?: object }>}
 */
function schemaFiles(resources, triggerVersion) {
	const files = resources.flatMap((resource) =>
		resource.operations.map((operation) => [
			`v1.0.0/${resource.value}/${operation.value}.json`,
			outputOf(resource, operation),
		]),
	);
	const version = Number.isInteger(triggerVersion) ? `${triggerVersion}.0` : triggerVersion;
	return Object.fromEntries([
		...files,
		[`v${version}.0/output.json`, { ...schemaOf(trigger), version: 1 }],
	]);
}

/** @param folder of the built nodes */
function writeSchemas(folder) {
	const { resources } = require(join(folder, 'actions'));
	const { MediaGenerationTrigger } = require(join(folder, 'MediaGenerationTrigger.node.js'));
	const { version } = new MediaGenerationTrigger().description;
	for (const [name, schema] of Object.entries(schemaFiles(resources, version))) {
		const file = join(folder, '__schema__', name);
		mkdirSync(dirname(file), { recursive: true });
		writeFileSync(file, `${JSON.stringify(schema)}\n`);
	}
}

module.exports = { schemaFiles, writeSchemas };
