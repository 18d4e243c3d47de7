/** What a service showed of each assumption, and whether the nodes cope where it is another. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '../../nodes/MediaGeneration/service/json';
import { root } from '../pack';
import { table } from '../table';
import type { Answer } from './service';

/** `noted`: nothing definite was expected. `copes` and `fails` are what the nodes do with what is otherwise. */
export type Verdict = 'as expected' | 'noted' | 'copes' | 'fails' | 'not shown';

interface Assumption {
	section: string;
	question: string;
	expected: string;
	/** For the nodes that do not cope. */
	advice: string;
}

export interface Finding extends Assumption {
	verdict: Verdict;
	seen: string;
}

/** The rows of docs/probe.md by their IDs. */
function assumptions(): Map<string, Assumption> {
	const text = readFileSync(join(root, 'docs', 'probe.md'), 'utf8');
	const rows = text.split('\n').filter((line) => line.startsWith('| '));
	const cells = rows.slice(1).map((row) => row.split('|').map((cell) => cell.trim()));
	return new Map(
		cells.map(([, id = '', section = '', question = '', expected = '', advice = '']) => [
			id,
			{ section, question, expected, advice },
		]),
	);
}

/** Notes what was seen of an assumption. `true`: as expected. */
export type See = (id: string, seen: string, verdict?: true | Verdict) => void;

/** What was seen of the assumptions, in their order. */
export class Findings {
	private readonly assumptions = assumptions();
	private readonly seen = new Map<string, Finding[]>();

	constructor(private readonly withoutKeys: (text: string) => string) {}

	get all(): Finding[] {
		return [...this.assumptions].flatMap(
			([id, assumption]) =>
				this.seen.get(id) ?? [{ ...assumption, verdict: 'not shown' as const, seen: '-' }],
		);
	}

	/** @param kind of the task, where a question is asked of each kind */
	of(kind?: string): See {
		return (id, text, verdict = 'noted') => {
			const assumption = this.assumptions.get(id);
			if (assumption === undefined) throw new Error(`docs/probe.md has no row ${id}`);
			const question = `${assumption.question}${kind === undefined ? '' : ` (${kind})`}`;
			const finding = {
				...assumption,
				question,
				verdict: verdict === true ? 'as expected' : verdict,
				seen: this.withoutKeys(text),
			};
			this.seen.set(id, [...(this.seen.get(id) ?? []), finding]);
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
export function inWords({ status, json, text, problem }: Answer): string {
	if (status === 0) return `no answer (${problem ?? 'unknown'})`;
	if (json !== undefined) return `${status} ${shapeOf(json)}`;
	if (text.trim() === '') return `${status}, empty`;
	return `${status}, ${/^\s*</.test(text) ? 'HTML' : 'text'}`;
}

const marks: Record<Verdict, string> = {
	'as expected': '',
	noted: '',
	copes: 'DIFFERS: copes',
	fails: 'DIFFERS: does not cope',
	'not shown': 'not shown',
};

/** A row for each finding, what to do where the nodes do not cope, and how many there are. */
export function printed(findings: readonly Finding[]): string {
	const rows = findings.map(({ verdict, section, question, expected, seen }) => [
		...[marks[verdict], section, question, expected, seen],
	]);
	const of = (verdict: Verdict) => findings.filter((finding) => finding.verdict === verdict);
	const [copes, fails] = [of('copes').length, of('fails')];
	return [
		table(['The nodes', 'Section', 'Question', 'Expected', 'Seen'], rows),
		...fails.map(({ question, advice }) => `\n  ${question}: the nodes do not cope. ${advice}.`),
		'',
		`  ${findings.length} questions, ${copes + fails.length} answered otherwise than expected: the nodes cope with ${copes} of these, and not with ${fails.length}.`,
		`  ${of('not shown').length} not shown; -- --spend and -- --callback URL show more. The sections are those of docs/service.md.`,
	].join('\n');
}
