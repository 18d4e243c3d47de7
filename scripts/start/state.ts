import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../pack';

/** Everything that `npm start` keeps between two starts; delete it to begin again. Not under version control. */
export const startFolder = join(root, '.n8n-start');

/** `.n8n-start/state.json` */
export interface StartState {
	email: string;
	/** Of the demo's owner. n8n wants 8 characters, a number and a capital. */
	password: string;
	/** The stand-in's API key: the same one each time, so that nothing in n8n has to change. */
	serviceKey: string;
	/** The hash of the package that is installed in n8n. */
	installed?: string;
}

const file = join(startFolder, 'state.json');

export function writeState(state: StartState): void {
	mkdirSync(startFolder, { recursive: true });
	writeFileSync(file, JSON.stringify(state, null, '\t'), { mode: 0o600 });
}

export function readState(): StartState {
	try {
		return JSON.parse(readFileSync(file, 'utf8')) as StartState;
	} catch {
		const state = {
			email: 'owner@example.com',
			password: `Demo-1-${randomBytes(6).toString('base64url')}`,
			serviceKey: `sk_demo_${randomBytes(12).toString('hex')}`,
		};
		writeState(state);
		return state;
	}
}
