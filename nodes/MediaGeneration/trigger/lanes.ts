/** The lanes in which callbacks wait to be confirmed. Those that anybody can post hold back neither others nor another account's. */
import { timeLimit } from '../base/abort';
import { BoundedMap, getOrCreate } from '../base/boundedMap';
import { now } from '../base/clock';
import { Limiter } from '../base/limiter';
import type { Account } from '../transport/account';
import type { ServiceClient } from '../transport/client';
import type { Poll } from '../answers/poll';

class Lane {
	private readonly turns: Limiter;
	private readonly underWay = new Map<string, Promise<Poll>>();

	constructor(
		atOnce: number,
		private readonly longest = Infinity,
	) {
		this.turns = new Limiter(atOnce);
	}

	get isFull(): boolean {
		return this.turns.waiting >= this.longest;
	}

	/** Returns the answer that copies of a callback share. If it is not enough, they ask again: the first of them may have come long before. */
	async share(
		callback: string,
		ask: () => Promise<Poll>,
		isEnough: (poll: Poll) => boolean,
	): Promise<Poll> {
		const end = () => this.underWay.delete(callback);
		const shared = await this.underWay.get(callback);
		if (shared !== undefined && isEnough(shared)) return shared;
		return await getOrCreate(this.underWay, callback, async () => await ask().finally(end));
	}

	/** Returns a client whose requests wait for their turn, and end by the deadline. */
	clientOf(client: ServiceClient, deadline: number): ServiceClient {
		const send: ServiceClient['send'] = async (request) => {
			const limit = timeLimit(Math.min(request.timeoutMs, deadline - now()));
			const endTurn = await this.turns.take(limit.signal).catch(() => undefined);
			limit.end();
			if (endTurn === undefined)
				return { answered: false, kind: 'unanswered', reason: 'too many callbacks at once' };
			const timeoutMs = Math.min(request.timeoutMs, Math.max(1, deadline - now()));
			return await client.send({ ...request, timeoutMs }).finally(endTurn);
		};
		return { ...client, send };
	}
}

class Lanes {
	/** For tasks that this process made, and signed URLs. */
	readonly own = new Lane(10);
	/** For whatever else anybody posts. */
	readonly others = new Lane(2, 20);
	/** Epoch ms until which an ID counts as unknown, without another request. */
	readonly unknown = new BoundedMap<string, number>();
}

const ofAccounts = new BoundedMap<Account, Lanes>();

export const lanesOf = (account: Account) => getOrCreate(ofAccounts, account, () => new Lanes());
