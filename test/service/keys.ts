import { randomBytes, randomUUID } from 'node:crypto';
import { now } from './clock';
import type { ApiKeyRecord } from './types';

/** How many keys may be active (docs/service.md, "Authentication", 3). */
const MAX_ACTIVE_KEYS = 3;

export type KeyVerdict =
	| { ok: true; record: ApiKeyRecord }
	| { ok: false; reason: 'missing' | 'unknown' | 'revoked' | 'expired' };

/** What the dashboard would do: makes, revokes and expires API keys; and the check of a request's bearer token. */
export class KeyRing {
	readonly keys: ApiKeyRecord[] = [];

	constructor(first?: string) {
		this.add({ name: 'Default', ...(first === undefined ? {} : { key: first }) });
	}

	add(fields: Partial<ApiKeyRecord> = {}): ApiKeyRecord {
		if (this.keys.filter(isActive).length >= MAX_ACTIVE_KEYS) {
			throw new Error(`At most ${MAX_ACTIVE_KEYS} API keys can be active`);
		}
		const record: ApiKeyRecord = {
			id: randomUUID(),
			name: `Key ${this.keys.length + 1}`,
			key: `sk_${randomBytes(24).toString('hex')}`,
			created_at: new Date(now()).toISOString(),
			expires_at: null,
			daily_limit: null,
			is_active: true,
			spent: 0,
			spentOn: '',
			...fields,
		};
		if (!record.key.startsWith('sk_')) throw new Error('An API key begins with sk_');
		this.keys.push(record);
		return record;
	}

	find(keyOrId: string): ApiKeyRecord {
		const record = this.keys.find(({ key, id }) => key === keyOrId || id === keyOrId);
		if (!record) throw new Error('No such API key');
		return record;
	}

	revoke(keyOrId: string): void {
		this.find(keyOrId).is_active = false;
	}

	expire(keyOrId: string): void {
		this.find(keyOrId).expires_at = new Date(now() - 1000).toISOString();
	}

	/** docs/service.md, "Authentication", 1, 5, 6 and 8. */
	check(authorization: string | undefined): KeyVerdict {
		const secret = /^Bearer (\S+)$/i.exec(authorization ?? '')?.[1];
		if (secret === undefined) return { ok: false, reason: 'missing' };
		const record = this.keys.find(({ key }) => key === secret);
		if (!record) return { ok: false, reason: 'unknown' };
		if (!record.is_active) return { ok: false, reason: 'revoked' };
		return isExpired(record) ? { ok: false, reason: 'expired' } : { ok: true, record };
	}

	/** Credits that a key has spent today (UTC). */
	spentToday(record: ApiKeyRecord): number {
		const today = new Date(now()).toISOString().slice(0, 10);
		if (record.spentOn !== today) {
			record.spentOn = today;
			record.spent = 0;
		}
		return record.spent;
	}

	/** Back to the first key, as good as new. */
	reset(): void {
		this.keys.length = Math.min(1, this.keys.length);
		const first = this.keys[0];
		if (first)
			Object.assign(first, { is_active: true, expires_at: null, daily_limit: null, spent: 0 });
	}
}

function isExpired(record: ApiKeyRecord): boolean {
	return record.expires_at !== null && Date.parse(record.expires_at) <= now();
}

function isActive(record: ApiKeyRecord): boolean {
	return record.is_active && !isExpired(record);
}
