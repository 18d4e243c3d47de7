/** Answers as data, one a file: what was asked, what came, and what it means (CONTRIBUTING, "An answer that we misread"). */
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { readJson } from '../../nodes/MediaGeneration/base/bounded';
import type { CreationRequest } from '../../nodes/MediaGeneration/answers/request';
import type { TaskOutput } from '../../nodes/MediaGeneration/answers/outputs';
import type { NoAnswer, Reply } from '../../nodes/MediaGeneration/answers/reply';

/** What came: JSON as `body`, anything else as `text`, or as `hex` where it is no text; or nothing. */
export type Came =
	| {
			status: number;
			headers?: Record<string, string>;
			body?: unknown;
			text?: string;
			hex?: string;
	  }
	| { silence: NoAnswer['kind']; reason: string };

export interface Example<Request, Meaning> {
	seen: 'documentation' | 'a public report' | 'our own guess';
	request: Request;
	answer: Came;
	/** `says`: parts of the message and of its advice. */
	meaning: Meaning & { says?: string[] };
}

export type CreationExample = Example<
	CreationRequest,
	{
		means: 'created' | 'refused' | 'later' | 'unclear';
		/** Null if none is found. */
		taskId?: string | null;
		status?: number;
		/** Who waits: the account's line because it is full or throttled, or this request alone. */
		line?: 'full' | 'limited' | 'retry';
		afterSeconds?: number;
		patienceSeconds?: number;
		/** Whether all creations of the account are held back. */
		pauses?: boolean;
		/** Whether the same request is sent to the newer route of speech. */
		asksForV3?: boolean;
	}
>;

export type TaskExample = Example<
	{
		taskId: string;
		/** Of the request that made it, as is what it carried. */
		makesFile?: boolean;
		carried?: unknown;
	},
	{
		/** `doubtful`: an end that counts once it is repeated. `fileless`: done, and its files are still looked for. */
		means: 'running' | 'done' | 'fileless' | 'failed' | 'doubtful' | 'busy' | 'missing' | 'denied';
		/** Each as `address kind`. */
		files?: string[];
		progress?: number | null;
		afterSeconds?: number;
		/** How it ends if no file comes. */
		finally?: 'done' | 'failed';
	}
>;

export type ListExample = Example<
	{ list: 'tasks' | 'voices' | 'image models' | 'speech models'; path: string },
	{
		/** `none`: the service has no such list. `unread`: it could not be read. */
		means: 'entries' | 'none' | 'unread';
		/** Of a task `ID | time`; of others `ID | name | description | link`, as far as there is one. */
		entries?: string[];
		/** Whether another page is asked for. */
		hasMore?: boolean;
		/** Whether a task that is not here is surely not in the list. */
		whole?: boolean;
	}
>;

export type BalanceExample = Example<
	object,
	{ means: 'credits'; credits: number } | { means: 'unread' }
>;

/** What a file host sends with HTTP 200. */
export type FileExample = Example<
	Pick<TaskOutput, 'url' | 'kind'>,
	/** `instead`: it is no file of this kind. `always`: of sounds and pictures, whatever type the host states. */
	{ means: 'file' | 'instead'; always?: true }
>;

/** Returns the examples of a kind by their names. */
export function examplesOf<Kind>(kind: string): Array<[name: string, Kind]> {
	const folder = join(__dirname, kind);
	const files = readdirSync(folder).sort();
	return files.map((file) => [
		basename(file, '.json'),
		JSON.parse(readFileSync(join(folder, file), 'utf8')) as Kind,
	]);
}

export const textOf = ({ body, text = '' }: { body?: unknown; text?: string }): string =>
	body === undefined ? text : JSON.stringify(body);

/** What goes over the wire where the example's own ID is `from` and the task is `to`. */
export function wireOf(
	{ status, headers = {}, ...of }: Exclude<Came, { silence: unknown }>,
	{ from, to }: { from?: string | null | undefined; to: string | undefined },
): { status: number; headers: Record<string, string>; text: string } {
	if (from == null || to === undefined) return { status, headers, text: textOf(of) };
	const own = new RegExp(`(?<!\\w)${from.replace(/\W/g, '\\$&')}(?!\\w)`, 'gi');
	const put = (text: string) => text.replace(own, () => to);
	const told = Object.entries(headers).map(([name, text]) => [name, put(text)] as const);
	return { status, headers: Object.fromEntries(told), text: put(textOf(of)) };
}

/** As the network's door makes it. */
export function replyOf(came: Came): Reply {
	if ('silence' in came) return { answered: false, kind: came.silence, reason: came.reason };
	const text = textOf(came);
	const { status, headers = {} } = came;
	return { answered: true, status, headers, text, ...readJson(text) };
}
