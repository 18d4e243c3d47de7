import { type Link, type Node, workflowOf } from '../n8n/harness/nodes';
import type { Workflow } from '../n8n/harness/workflow';

/** An output of a node that leads on. */
export interface Port {
	node: string;
	output: number;
}

/** Filled in for each n8n (`play`). */
const CREDENTIAL = { id: 'x', name: 'Media Generation API' };

/** A workflow that grows node by node. */
export class Graph {
	readonly nodes: Node[] = [];
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
	add(node: Node, from: readonly Port[] = []): string {
		const count = (this.counts.get(node.name) ?? 0) + 1;
		this.counts.set(node.name, count);
		const name = `${this.prefix}${node.name} ${count}`;
		const id = `${this.idPrefix}5e1f0000-0000-4000-8000-${String(this.nodes.length).padStart(12, '0')}`;
		this.nodes.push({ ...node, id, name });
		this.link(from, name);
		return name;
	}

	/** @param input of the node that they lead to */
	link(from: readonly Port[], to: string, input = 0): void {
		for (const { node, output } of from) this.links.push([node, to, output, input]);
	}

	/** Gives an agent its tool or its model. */
	lend(name: string, agent: string, kind: 'ai_tool' | 'ai_languageModel'): void {
		this.links.push([name, agent, kind]);
	}

	node(name: string): Node {
		const found = this.nodes.find((node) => node.name === name);
		if (found === undefined) throw new Error(`There is no node ${name}`);
		return found;
	}

	/** The outputs that lead to a node. */
	into(name: string): Port[] {
		return this.links.flatMap(([node, to, output]) =>
			to === name && typeof output === 'number' ? [{ node, output }] : [],
		);
	}

	workflow(): Workflow {
		const workflow = workflowOf(this.name, this.nodes, CREDENTIAL, this.links);
		return { ...workflow, settings: { ...workflow.settings, ...this.settings } };
	}
}
