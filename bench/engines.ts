/** n8n as it comes, and with the setting that makes it open its expression engine only where there is an expression (docs/queue-mode.md). */
import type { TestContext } from '../test/n8n/harness/context';
import { mark, type Mark, type Say } from './report';
import { inN8n } from './workflows';

const LAZILY = 'N8N_EXPRESSION_ENGINE_LAZY_ACQUIRE';
const engines: Array<Record<'where' | 'caption', string> & { env: Record<string, string> }> = [
	{ where: 'as n8n comes', caption: 'As n8n 2.41 comes', env: {} },
	{
		where: 'expression engine on demand',
		caption: `With ${LAZILY}=true`,
		env: { [LAZILY]: 'true' },
	},
];

/** Measures in one n8n of each kind, one after the other. */
export async function inBothEngines<T>(
	say: Say,
	compare: (context: TestContext, say: Say) => Promise<T>,
) {
	const both = [];
	for (const { env, ...engine } of engines) {
		say(engine.where);
		both.push({ ...engine, results: await inN8n({ env }, compare)(say) });
	}
	return both;
}

/** Marks for a rate of ours beside that of n8n's own node. */
export const rateMarks = <T>(
	both: ReadonlyArray<{ where: string; results: T }>,
	rateOf: (results: T) => number,
	{ what, least }: { what: string; least: readonly number[] },
): Mark[] =>
	both.map(({ where, results }, at) =>
		mark(`${where}${what}`, rateOf(results), [least[at] ?? NaN, 'x', 'least']),
	);
