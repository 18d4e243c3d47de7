import type { Workflow, WorkflowNode } from '../n8n/harness/workflow';

/** An output of a node that leads on. */
export interface Port {
	node: string;
	output: number;
}

export interface NodeGiven {
	type: string;
	typeVersion: number;
	parameters?: Record<string, unknown>;
	/** Further settings, such as `onError`. */
	settings?: Record<string, unknown>;
}

interface Link extends Port {
	to: string;
	input: number;
	kind: string;
}

/** A workflow that grows node by node. */
export class Graph {
	readonly nodes: WorkflowNode[] = [];
	private readonly links: Link[] = [];
	private readonly counts = new Map<string, number>();

	constructor(
		readonly name: string,
		readonly settings: Record<string, unknown>,
		/** What the names of its nodes begin with. */
		private readonly prefix = '',
		/** What the IDs of its nodes begin with; n8n takes any text. */
		private readonly idPrefix = '',
	) {}

	/** Adds a node behind these ports; its name ends with a number. */
	add(title: string, given: NodeGiven, from: readonly Port[] = []): string {
		const count = (this.counts.get(title) ?? 0) + 1;
		this.counts.set(title, count);
		const name = `${this.prefix}${title} ${count}`;
		const at = this.nodes.length;
		this.nodes.push({
			id: `${this.idPrefix}5e1f0000-0000-4000-8000-${String(at).padStart(12, '0')}`,
			name,
			type: given.type,
			typeVersion: given.typeVersion,
			position: [220 * at, 120 * (at % 3)],
			parameters: given.parameters ?? {},
			...given.settings,
		});
		this.link(from, name);
		return name;
	}

	link(from: readonly Port[], to: string, { input = 0, kind = 'main' } = {}): void {
		for (const port of from) this.links.push({ ...port, to, input, kind });
	}

	node(name: string): WorkflowNode {
		const found = this.nodes.find((node) => node.name === name);
		if (found === undefined) throw new Error(`There is no node ${name}`);
		return found;
	}

	/** The outputs that lead to a node. */
	into(name: string): Port[] {
		return this.links.filter(({ to, kind }) => to === name && kind === 'main');
	}

	workflow(): Workflow {
		const connections: Record<string, Record<string, object[][]>> = {};
		for (const { node, output, to, input, kind } of this.links) {
			const outputs = ((connections[node] ??= {})[kind] ??= []);
			while (outputs.length <= output) outputs.push([]);
			outputs[output]?.push({ node: to, type: kind, index: input });
		}
		const { name, nodes, settings } = this;
		return { name, nodes, connections, settings: { executionOrder: 'v1', ...settings } };
	}
}
