/** What was measured with real processes, for the simulation to be checked against. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { outFolder } from './saved';

export interface Point {
	seconds: number;
	refusedPerTask: number;
	pollsPerTask: number;
}

const fileOf = (name: string) => join(outFolder, `${name}.point.json`);

function saved(name: string): Point | undefined {
	const file = fileOf(name);
	return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Point) : undefined;
}

export function savePoint(name: 'load' | 'crowd', point: Point): void {
	mkdirSync(outFolder, { recursive: true });
	writeFileSync(fileOf(name), `${JSON.stringify(point, undefined, '\t')}\n`);
}

/** As docs/operations.md has it. */
const loadOfTheDocs: Point = { seconds: 124, refusedPerTask: 0.15, pollsPerTask: 1.05 };

/** `npm run test:queue -- --load`: its last run here, if there was one. */
export const measuredLoad = (): Point => saved('load') ?? loadOfTheDocs;
/** `npm run bench -- crowd`: the same. */
export const measuredCrowd = () => saved('crowd');
