import type { FaultAction, FaultRule, RecordedRequest } from './types';

/** The rules by which requests are answered wrongly. The first rule that strikes decides. */
export class FaultBook {
	/** With how many requests each has fitted. */
	private readonly rules = new Map<FaultRule, number>();

	/** @returns the rule to remove */
	add(rule: FaultRule): FaultRule {
		if (typeof rule?.action?.type !== 'string')
			throw new Error('A fault needs an action with a type');
		const added: FaultRule = { ...rule, hits: 0 };
		this.rules.set(added, 0);
		return added;
	}

	remove(rule: FaultRule): void {
		this.rules.delete(rule);
	}

	clear(): void {
		this.rules.clear();
	}

	/** The fault that this request meets, if any. */
	strike(request: RecordedRequest): FaultAction | null {
		for (const [rule, seen] of this.rules) {
			if (!matches(rule, request)) continue;
			this.rules.set(rule, seen + 1);
			const { hits = 0, skip = 0, times = Infinity } = rule;
			if (seen < skip || hits >= times) continue;
			rule.hits = hits + 1;
			return rule.action;
		}
		return null;
	}
}

function matches(rule: FaultRule, request: RecordedRequest): boolean {
	if (rule.route !== undefined && rule.route !== request.route) return false;
	return rule.kind === undefined || rule.kind === request.kind;
}
