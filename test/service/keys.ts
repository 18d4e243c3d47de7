import { randomBytes, randomUUID } from 'node:crypto';
import { now } from './clock';

/** The account's one API key. */
export function apiKeyRecord(key = `sk_${randomBytes(24).toString('hex')}`) {
	return {
		id: randomUUID(),
		name: 'Key 1',
		key,
		created_at: new Date(now()).toISOString(),
		expires_at: null,
		daily_limit: null,
		is_active: true,
	};
}
