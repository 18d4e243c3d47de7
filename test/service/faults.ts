import { randomUUID } from 'node:crypto';
import type { Random } from './random';
import type { FaultAction, FaultRule, RecordedRequest } from './types';

interface Counts {
	matched: number;
	struck: number;
}

/** The rules by which requests are answered wrongly. The first rule that strikes decides. */
export class FaultBook {
	private rules: FaultRule[] = [];
	private readonly counts = new Map<FaultRule, Counts>();

	constructor(private readonly random: Random) {}

	add(rule: FaultRule): FaultRule {
		if (typeof rule?.action?.type !== 'string')
			throw new Error('A fault needs an action with a type');
		const added: FaultRule = { ...rule, id: rule.id ?? randomUUID(), hits: 0 };
		this.rules.push(added);
		this.counts.set(added, { matched: 0, struck: 0 });
		return added;
	}

	/** Takes rules out: the one with this id, or the very rule that `add` returned. */
	remove(rule: FaultRule | string): boolean {
		const index = this.rules.findIndex((one) => one === rule || one.id === rule);
		const [removed] = index < 0 ? [] : this.rules.splice(index, 1);
		if (removed) this.counts.delete(removed);
		return removed !== undefined;
	}

	clear(): void {
		this.rules = [];
		this.counts.clear();
	}

	list(): FaultRule[] {
		return [...this.rules];
	}

	/** The fault that this request meets, if any. Counts and dice move on. */
	strike(request: RecordedRequest): FaultAction | null {
		for (const rule of this.rules) {
			const counts = this.counts.get(rule);
			if (counts === undefined || !matches(rule, request)) continue;
			counts.matched += 1;
			if (counts.matched <= (rule.skip ?? 0)) continue;
			if (rule.times !== undefined && counts.struck >= rule.times) continue;
			if (rule.probability !== undefined && this.random() >= rule.probability) continue;
			counts.struck += 1;
			rule.hits = (rule.hits ?? 0) + 1;
			return rule.action;
		}
		return null;
	}
}

function matches(rule: FaultRule, request: RecordedRequest): boolean {
	if (rule.host !== undefined && rule.host !== request.host) return false;
	if (rule.route !== undefined && rule.route !== request.route) return false;
	if (rule.kind !== undefined && rule.kind !== request.kind) return false;
	const { path = '' } = rule;
	return typeof path === 'string' ? request.url.includes(path) : path.test(request.url);
}
