/** A seed's workflow, and what happens to it. */
import { type Case, type MediaNode, type Plan, type Script, type Start, tag } from './case';
import { Choices } from './choices';
import { Graph, type Port } from './graph';
import { addCreating, addTool, addWaiting } from './media';
import * as steps from './steps';
import { faults, service } from './conditions';

/** Each so many seeds there is one whose n8n is killed. */
const RESTART_EVERY = 5;

class Growth {
	readonly media: MediaNode[] = [];

	constructor(
		private readonly random: Choices,
		readonly graph: Graph,
		/** Whether there is a sub-workflow to call. */
		private readonly mayCall: boolean,
	) {}

	/** Some steps one behind the other. @returns the ports that are left */
	chain(from: readonly Port[], length: number, isInLoop = false): Port[] {
		let open = [...from];
		for (let step = 0; step < length; step += 1) open = this.step(open, isInLoop);
		return open;
	}

	/** All open ports lead into one node, so that it gets more than one batch of items. */
	private step(open: Port[], isInLoop: boolean): Port[] {
		const { random, graph } = this;
		const grow = random.weighted<() => Port[]>([
			[6, () => this.creating(open, isInLoop)],
			[3, () => this.waiting(open)],
			[1, () => steps.addEdit(graph, open)],
			[3, () => steps.addIf(graph, open, '$itemIndex % 2 === 0')],
			[1, () => steps.addSwitch(graph, open)],
			[1, () => this.branches(open, isInLoop)],
			[isInLoop ? 0 : 1.5, () => this.loop(open)],
			[this.mayCall && !isInLoop ? 1.5 : 0, () => steps.addCall(random, graph, open)],
		]);
		return grow();
	}

	private creating(open: Port[], isInLoop: boolean): Port[] {
		const { random, graph } = this;
		const { name, media, errorOutput } = addCreating(random, graph, {
			from: open,
			isInLoop,
		});
		this.media.push(media);
		const done = { node: name, output: 0 };
		if (!errorOutput) return [done];
		const failed = { node: name, output: 1 };
		return random.weighted<() => Port[]>([
			[3, () => [done, failed]],
			[3, () => [done, ...this.waiting([failed])]],
			[isInLoop ? 0 : 3, () => [done, this.back(failed, name)]],
			[1, () => [done]],
		])();
	}

	/** What has failed comes to the same node again, once. */
	private back(failed: Port, name: string): Port {
		const [again, enough] = steps.addIf(this.graph, [failed], '$runIndex < 1');
		if (again === undefined || enough === undefined) throw new Error('An If has two outputs');
		this.graph.link([again], name);
		return enough;
	}

	private waiting(open: Port[]): Port[] {
		const { name, media, errorOutput } = addWaiting(this.random, this.graph, open);
		this.media.push(media);
		const outputs = errorOutput ? [0, 1] : [0];
		return outputs.map((output) => ({ node: name, output }));
	}

	/** Two ways, and one node that waits for both. */
	private branches(open: Port[], isInLoop: boolean): Port[] {
		const [first, second] = steps
			.addIf(this.graph, open, '$itemIndex % 2 === 0')
			.map((port) => this.creating([port], isInLoop)[0]);
		if (first === undefined || second === undefined) throw new Error('An If has two outputs');
		return steps.addMerge(this.graph, first, second);
	}

	/** An agent whose model calls its tool, in parallel or not, and may fail then. */
	agent(start: Port): Script {
		const { random, graph } = this;
		const agent = steps.addAgent(graph, [start]);
		const tool = addTool(random, graph, agent);
		this.media.push(tool);
		const calls = [0, 1].map((call) => ({ Text: tag(`a${call}`, tool.name, 0) }));
		const both = random.chance(0.5) ? [calls] : calls.map((call) => [call]);
		return random.chance(0.5)
			? [calls, 400, calls, 'Done.']
			: [both[0] ?? calls, ...both.slice(1), 'Done.'];
	}

	private loop(open: Port[]): Port[] {
		const { random, graph } = this;
		const { name, batch, done } = steps.addLoop(graph, open, random.between(1, 2));
		graph.link(this.chain(this.creating([batch], true), random.between(0, 1), true), name);
		return [done];
	}
}

/** Settings of n8n for a workflow. What it does not save could not be judged, but for failed executions beside saved ones. */
function settingsOf(random: Choices) {
	return {
		...(random.chance(0.3) && { saveExecutionProgress: true }),
		...(random.chance(0.3) && { binaryMode: 'combined' }),
		...(random.chance(0.15) && { executionOrder: 'v0' }),
		...(random.chance(0.12) && { executionTimeout: random.pick([5, 15, 90]) }),
		...(random.chance(0.2) && { saveDataSuccessExecution: 'all', saveDataErrorExecution: 'all' }),
	};
}

interface Wanted {
	seed: number;
	/** The sub-workflow that it may call. */
	callable?: Plan | undefined;
	/** Undefined for a sub-workflow. */
	start?: Start;
}

function plan(random: Choices, { seed, callable, start }: Wanted): Plan {
	const isChild = start === undefined;
	const idPrefix = random.chance(0.15) ? random.pick(['a/b ', '%2F..', '../?#']) : '';
	const name = isChild ? `Random ${seed} sub-workflow` : `Random ${seed}`;
	const graph = new Graph(name, settingsOf(random), isChild ? 'Inner ' : '', idPrefix);
	const growth = new Growth(random, graph, callable !== undefined);
	const from = isChild
		? steps.addCalled(graph)
		: steps.addItems(graph, steps.startOf(start, seed), random.between(1, 6));
	const open = growth.chain(from, isChild ? random.between(1, 2) : random.between(2, 4));
	if (start === 'responseNode') steps.addAnswer(graph, open);
	steps.addEnd(graph, open);
	if (!isChild && random.chance(0.15))
		steps.addStopAndError(graph, [random.pick([open[0]!, ...open])]);
	const isAgent = !isChild && random.chance(0.12);
	const script = isAgent ? growth.agent({ node: 'Start 1', output: 0 }) : undefined;
	// There n8n 2.41 goes on with the agent before its tools have run, and a Retry runs them twice (docs/troubleshooting.md).
	if (isAgent) delete graph.settings.executionOrder;
	// Suspend is refused there (suspend/checks).
	if (growth.media.some(({ suspends }) => suspends)) delete graph.settings.binaryMode;
	return { graph, media: growth.media, ...(script && { script }) };
}

/** A restart of n8n ends its own lookups: where no callback comes, only the deadline wakes what sleeps (docs/waiting.md). */
function withDeadlines({ graph, media }: Plan): void {
	for (const { name, suspends } of media)
		if (suspends) Object.assign(graph.node(name).parameters.options as object, { timeout: 30 });
}

/**
 * n8n 2.41 wakes a parent with each child that has finished: one that sleeps itself by then goes on with that child's items in place of its
 * own (docs/waiting.md).
 */
function withOneCallAtOnce(main: Plan, child: Plan | undefined): void {
	const sleeps = ({ media }: Plan) => media.some(({ suspends }) => suspends);
	if (child === undefined || !sleeps(child) || !sleeps(main)) return;
	for (const { type, parameters } of main.graph.nodes)
		if (type.endsWith('.executeWorkflow')) parameters.mode = 'once';
}

/** @param restarts whether n8n is killed while its workflow runs */
export function caseOf(seed: number, restarts = seed % RESTART_EVERY === 0): Case {
	const random = new Choices(seed);
	const child = random.chance(0.35) ? plan(random, { seed }) : undefined;
	const start = random.weighted<Start>([
		[7, 'manual'],
		[2, 'lastNode'],
		[1, 'responseNode'],
	]);
	const main = plan(random, { seed, callable: child, start });
	withOneCallAtOnce(main, child);
	if (restarts) for (const each of [main, child]) if (each !== undefined) withDeadlines(each);
	const when = (share: number) => (random.chance(share) ? random.between(0, 5000) : undefined);
	return {
		seed,
		restarts,
		start,
		hasTwoCredentials: random.chance(0.3),
		main,
		child,
		service: service(random),
		faults: faults(random),
		events: {
			stopAfterMs: when(0.12),
			// The model has its answers for one execution.
			againAfterMs: main.script === undefined ? when(0.2) : undefined,
			retries: random.between(0, 2),
			retriesCurrent: random.chance(0.3),
		},
	};
}
