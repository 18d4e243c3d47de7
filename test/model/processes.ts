/**
 * Processes of n8n, as far as the nodes keep anything in memory: each has the modules of its own. They are loaded once and used by
 * many histories; every history has an account, executions and a workflow of its own, so none finds anything of another.
 */
import fc from 'fast-check';
import type * as run from '../../nodes/MediaGeneration/run/execute';
import type * as wake from '../../nodes/MediaGeneration/suspend/wake';

export interface Process {
	runOperation: typeof run.runOperation;
	wake: typeof wake.wake;
}

/** How many histories are played, and which: the same each time, so that a change is what breaks them. */
export const SEEDS = Number(process.env.MODEL_SEEDS ?? 1_000);
export const SEED = Number(process.env.MODEL_SEED ?? 1);

/** A history has no more processes than that, so one more death than this is none. */
const PROCESSES = 4;

function load(): Process {
	let loaded: Process | undefined;
	jest.isolateModules(() => {
		loaded = {
			...jest.requireActual<typeof run>('../../nodes/MediaGeneration/run/execute'),
			...jest.requireActual<typeof wake>('../../nodes/MediaGeneration/suspend/wake'),
		};
	});
	if (loaded === undefined) throw new Error('the modules were not loaded');
	return loaded;
}

/** n8n itself is loaded once: it is large, and what it remembers is not what is tested. */
export function loadProcesses(count = PROCESSES): Process[] {
	const n8n = jest.requireActual<object>('n8n-workflow');
	jest.doMock('n8n-workflow', () => n8n);
	return Array.from({ length: count }, load);
}

/** What is played in {@link SEEDS} histories, or a part of them. */
interface Played {
	broken: string[];
	story: string[];
}

/** Plays so many histories. What breaks a rule is made shorter until nothing can be left out, and printed with what happened. */
export async function playMany<History>(
	histories: fc.Arbitrary<History>,
	numRuns: number,
	play: (history: History) => Promise<Played>,
): Promise<void> {
	const property = fc.asyncProperty(histories, async (history) => {
		const { broken, story } = await play(history);
		if (broken.length > 0) throw new Error([...broken, ...story].join('\n'));
	});
	await fc.assert(property, { numRuns, seed: SEED });
}
