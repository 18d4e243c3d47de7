import { isObject } from '../../nodes/MediaGeneration/service/json';
import type { Answer } from './service';

/** One assumption, and what the service showed of it. */
export interface Finding {
	/** Where docs/service.md speaks of it. */
	section: string;
	question: string;
	/** What the nodes take for the usual; what differs they may still be able to read. */
	expected: string;
	/** Undefined: it did not show. */
	seen?: string;
	/** Undefined where nothing definite is expected, or nothing was seen. */
	differs?: boolean;
}

/** Collects findings in the order they are made. */
export class Findings {
	readonly all: Finding[] = [];

	constructor(private readonly withoutKeys: (text: string) => string) {}

	/** @param holds whether it is as expected; left out where anything would be news */
	add(
		[section, question]: [section: string, question: string],
		expected: string,
		seen: string,
		holds?: boolean,
	): void {
		this.all.push({
			section,
			question,
			expected,
			seen: this.withoutKeys(seen),
			...(holds === undefined ? {} : { differs: !holds }),
		});
	}

	/** Something that this run could not find out. */
	open([section, question]: [section: string, question: string], expected: string): void {
		this.all.push({ section, question, expected });
	}
}

/** The names and kinds of an object's fields, without their values: `{success: boolean, task_id: string}`. */
export function shapeOf(value: unknown, depth = 2): string {
	if (value === null) return 'null';
	if (Array.isArray(value))
		return value.length === 0 ? '[]' : `[${value.length} x ${shapeOf(value[0], depth - 1)}]`;
	if (!isObject(value)) return typeof value;
	if (depth === 0) return '{...}';
	const fields = Object.entries(value).map(([name, one]) => `${name}: ${shapeOf(one, depth - 1)}`);
	return `{${fields.join(', ')}}`;
}

/** An answer in a few words: its status and its shape, or what it is instead of JSON. */
export function inWords({ status, json, text, problem }: Answer): string {
	if (status === 0) return `no answer (${problem ?? 'unknown'})`;
	if (json !== undefined) return `${status} ${shapeOf(json)}`;
	if (text.trim() === '') return `${status}, empty`;
	return `${status}, ${/^\s*</.test(text) ? 'HTML' : 'text'}`;
}
