/** n8n as it comes, and with the setting that makes it open its expression engine only where there is an expression (docs/operations.md). */
import { startContext, type TestContext } from '../test/n8n/harness/context';
import { mark, type Mark, type Table } from './report';

const LAZILY = 'N8N_EXPRESSION_ENGINE_LAZY_ACQUIRE';

export class BothEngines<T> {
	private constructor(
		readonly asItComes: T,
		readonly lazy: T,
	) {}

	/** Measures in one n8n of each kind, one after the other. */
	static async measure<T>(
		say: (line: string) => void,
		compare: (context: TestContext) => Promise<T>,
	): Promise<BothEngines<T>> {
		const inOne = async (env: Record<string, string>) => {
			const context = await startContext({ env });
			try {
				return await compare(context);
			} finally {
				await context.close();
			}
		};
		say('as n8n comes');
		const asItComes = await inOne({});
		say(`with ${LAZILY}=true`);
		return new BothEngines(asItComes, await inOne({ [LAZILY]: 'true' }));
	}

	tables(table: (caption: string, results: T) => Table): Table[] {
		return [table('As n8n 2.41 comes', this.asItComes), table(`With ${LAZILY}=true`, this.lazy)];
	}

	/** Marks for a rate of ours beside that of n8n's own node. */
	rateMarks(
		what: (where: string) => string,
		rateOf: (results: T) => number,
		limits: { asItComes: number; lazy: number },
	): Mark[] {
		const rate = (where: string, results: T, limit: number) =>
			mark(what(where), rateOf(results), [limit, 'x', 'least']);
		return [
			rate('as n8n comes', this.asItComes, limits.asItComes),
			rate('expression engine on demand', this.lazy, limits.lazy),
		];
	}
}
