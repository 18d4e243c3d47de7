interface Schema {
	type: string;
	properties: Record<string, unknown>;
}

interface Described {
	value: string;
	operations: ReadonlyArray<{ value: string; work: { kind: string } }>;
}

export function schemaFiles(
	resources: readonly Described[],
	triggerVersion: number,
): Record<string, Schema>;
export function writeSchemas(folder: string): void;
