import { randomBytes, randomUUID } from 'node:crypto';
import { now } from './clock';
import type { ApiKeyRecord } from './types';

/** The account's API keys, and the check of a request's bearer token. */
export class KeyRing {
	readonly keys: ApiKeyRecord[] = [];

	constructor(first?: string) {
		this.add(first);
	}

	add(key = `sk_${randomBytes(24).toString('hex')}`): ApiKeyRecord {
		const record: ApiKeyRecord = {
			id: randomUUID(),
			name: `Key ${this.keys.length + 1}`,
			key,
			created_at: new Date(now()).toISOString(),
			expires_at: null,
			daily_limit: null,
			is_active: true,
		};
		this.keys.push(record);
		return record;
	}

	/** @param bare the key as it is, where the service takes that */
	knows(authorization: string | undefined, bare?: unknown): boolean {
		return this.keys.some(({ key }) => authorization === `Bearer ${key}` || bare === key);
	}

	/** Back to the first key. */
	reset(): void {
		this.keys.length = 1;
	}
}
