/** What a service showed of each assumption, and whether the nodes cope where it is another. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '../../nodes/MediaGeneration/base/json';
import { root } from '../pack';
import { table } from '../table';
import type { Answer } from './service';

/** A row of docs/probe.md, with what was seen of it. The advice is for nodes that do not cope; an empty verdict needs no words. */
export interface Finding extends Record<
	'id' | 'section' | 'question' | 'expected' | 'advice' | 'seen',
	string
> {
	verdict: '' | 'copes' | 'does not cope' | 'not shown';
}

function assumptions(): Finding[] {
	const text = readFileSync(join(root, 'docs', 'probe.md'), 'utf8');
	const [, , ...rows] = text.split('\n').filter((line) => line.startsWith('|'));
	return rows.map((row) => {
		const cells = row.split('|').map((cell) => cell.trim());
		const [, id = '', section = '', question = '', expected = '', advice = ''] = cells;
		return { id, section, question, expected, advice, verdict: 'not shown', seen: '-' };
	});
}

/** Notes what was seen of an assumption: whether it is as expected, unless that is left open, and whether the nodes cope with what is otherwise. */
export type See = (id: string, seen: string, isExpected?: boolean, copes?: boolean) => void;

/** What was seen of the assumptions, in their order. */
export class Findings {
	private readonly assumptions = assumptions();
	private readonly seen: Finding[] = [];

	/** @param apiKey is taken out of what was seen, as is whatever else looks like a key */
	constructor(private readonly apiKey: string) {}

	get all(): Finding[] {
		return this.assumptions.flatMap((assumption) => {
			const seen = this.seen.filter(({ id }) => id === assumption.id);
			return seen.length === 0 ? [assumption] : seen;
		});
	}

	/** @param kind of the task, where a question is asked of each kind */
	of(kind?: string): See {
		return (id, text, isExpected, copes = true) => {
			const assumption = this.assumptions.find((one) => one.id === id);
			if (assumption === undefined) throw new Error(`docs/probe.md has no row ${id}`);
			const question = `${assumption.question}${kind === undefined ? '' : ` (${kind})`}`;
			const verdict = (isExpected ?? true) ? '' : copes ? 'copes' : 'does not cope';
			const seen = text.replaceAll(this.apiKey, '(key)').replace(/\bsk_[\w-]+/g, '(key)');
			this.seen.push({ ...assumption, question, verdict, seen });
		};
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
export function inWords({ status, json, text }: Answer): string {
	if (status === 0) return `no answer (${text})`;
	if (json !== undefined) return `${status} ${shapeOf(json)}`;
	if (text.trim() === '') return `${status}, empty`;
	return `${status}, ${/^\s*</.test(text) ? 'HTML' : 'text'}`;
}

/** What sums the other findings up, below their table. */
const PROFILE = 'Profile';

/** A row for each finding, what to do where the nodes do not cope, and how many there are. */
export function printed(findings: readonly Finding[]): string {
	const asked = findings.filter(({ section }) => section !== PROFILE);
	const about = findings.filter(({ section }) => section === PROFILE);
	const rows = asked.map(({ verdict, section, question, expected, seen }) => [
		...[verdict.replace(/.*cope.*/, 'DIFFERS: $&'), section, question, expected, seen],
	]);
	const of = (verdict: Finding['verdict']) => findings.filter((one) => one.verdict === verdict);
	const [copes, fails] = [of('copes').length, of('does not cope')];
	return [
		table(['The nodes', 'Section', 'Question', 'Expected', 'Seen'], rows),
		...fails.map(({ question, advice }) => `\n  ${question}: the nodes do not cope. ${advice}.`),
		'',
		...about.map(({ question, seen }) => `  ${question}: ${seen}.`),
		'',
		`  ${asked.length} questions, ${copes + fails.length} answered otherwise than expected: the nodes cope with ${copes} of these, and not with ${fails.length}.`,
		`  ${of('not shown').length} not shown; -- --spend and -- --callback URL show more. The sections are those of docs/service.md.`,
	].join('\n');
}
