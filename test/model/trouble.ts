/** n8n out of order: what of it throws. */
import type { BreakScript, History } from './history';

export class Trouble {
	private readonly uses = new Map<string, number>();
	/** From a store to its guard, and back. */
	private readonly guards = new WeakMap<object, object>();
	private readonly stores = new WeakMap<object, object>();

	constructor(
		private readonly history: Pick<History, 'breaks'>,
		private readonly note: (line: string) => void,
	) {}

	/** One use of something, which throws where the history has it so. */
	use(what: BreakScript['what']): void {
		const use = this.uses.get(what) ?? 0;
		this.uses.set(what, use + 1);
		const breaks = this.history.breaks.some(
			(each) => each.what === what && use >= each.from && use < each.from + each.times,
		);
		if (!breaks) return;
		this.note(`n8n breaks: ${what}`);
		throw new Error(`${what}: out of order`);
	}

	/** Makes everything of a context throw where the history has it so, its log apart. */
	around<T>(context: T): T {
		const methods = context as Record<string, (...given: unknown[]) => unknown>;
		for (const what of new Set(this.history.breaks.map((each) => each.what))) {
			const method = methods[what];
			if (typeof method !== 'function') continue;
			methods[what] = (...given) => {
				// Those two fields take no expression.
				if (given[0] !== 'resource' && given[0] !== 'operation') this.use(what);
				return method.apply(context, given);
			};
		}
		const { getContext } = methods;
		methods.getContext = (type) => {
			const store = getContext?.(type) as object;
			return type === 'node' ? this.guarded(store) : store;
		};
		return context;
	}

	/** A store of n8n of which each use can throw: its fields, those of the ledger, and those of an entry. */
	guarded<T extends object>(store: T, depth = 0): T {
		if (!this.history.breaks.some(({ what }) => what === 'context')) return store;
		const present = this.guards.get(store);
		if (present !== undefined) return present as T;
		const guard = new Proxy(store, {
			get: (target, name, receiver) => {
				this.use('context');
				const value: unknown = Reflect.get(target, name, receiver);
				return isStore(value) && depth < 3 ? this.guarded(value, depth + 1) : value;
			},
			set: (target, name, value) => {
				this.use('context');
				return Reflect.set(target, name, this.unguarded(value));
			},
			deleteProperty: (target, name) => {
				this.use('context');
				return Reflect.deleteProperty(target, name);
			},
			ownKeys: (target) => {
				this.use('context');
				return Reflect.ownKeys(target);
			},
		});
		this.guards.set(store, guard);
		this.stores.set(guard, store);
		return guard;
	}

	/** What is put into a store can hold what was read from one. */
	private unguarded(value: unknown): unknown {
		if (!isStore(value)) return value;
		const store = this.stores.get(value);
		if (store !== undefined) return store;
		for (const [key, entry] of Object.entries(value))
			Object.assign(value, { [key]: this.unguarded(entry) });
		return value;
	}
}

const isStore = (value: unknown): value is object => typeof value === 'object' && value !== null;
