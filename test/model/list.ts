/** The service's list of tasks: it lags, lies about order, and holds other people's tasks. */
import fc from 'fast-check';
import type { IDataObject } from 'n8n-workflow';
import { examplesOf, textOf, type ListExample } from '../answers';
import { timeOf } from '../service/lists';
import type { Sent, Service } from './service';

/** Tasks of other people, one for each creation: equal but older, equal but of another type, or of another text. */
const OTHERS = ['older', 'other type', 'other text'] as const;

/** What the list answers at first, instead of itself: an example of test/answers that is no list, or nothing. */
const LIST_FAULTS = new Map(
	examplesOf<ListExample>('list').filter(
		([, { request, meaning }]) => request.list === 'tasks' && meaning.means !== 'entries',
	),
);

export const taskLists = fc.record({
	faults: fc.oneof(
		fc.constant<string[]>([]),
		fc.array(fc.constantFrom('empty', ...LIST_FAULTS.keys()), { maxLength: 5 }),
	),
	/** `none`: the service has no list. `short`: two tasks, whichever page is asked for. */
	kind: fc.constantFrom(
		'none' as const,
		'data' as const,
		'data' as const,
		'bare' as const,
		'short',
	),
	/** How long after its creation a task is listed, in seconds. */
	lag: fc.constantFrom<number>(0, 0, 1, 10, 60),
	order: fc.constantFrom('newest' as const, 'oldest' as const, 'shuffled' as const),
	/** Whether it repeats what was asked for, the text alone, or its beginning. */
	repeats: fc.constantFrom<boolean | 'text' | 'beginning'>(true, true, false, 'text', 'beginning'),
	others: fc.subarray([...OTHERS]),
	/** How far the service's clock is ahead, in seconds. */
	ahead: fc.constantFrom<number>(0, -7_200, 90),
	/** How it says when a task was made: in its own words, or by a clock on the wall of another country. */
	times: fc.constantFrom('ISO', 'ISO', 'ISO', 'none', 'another name', 'local', 'never set'),
});
export type ListScript = typeof taskLists extends fc.Arbitrary<infer T> ? T : never;

export const NO_LIST: ListScript = {
	faults: [],
	kind: 'none',
	lag: 0,
	order: 'newest',
	repeats: true,
	others: [],
	ahead: 0,
	times: 'ISO',
};

interface Entry {
	sent: Pick<Sent, 'text'>;
	id: string;
	type: string;
	createdMs: number;
	text?: string;
}

/** The one type of which everybody knows what it is: of the others the node learns the names. */
const DOCUMENTED = 'sound_effect';
const OLDER_MS = 5_000;
const idOfOther = (kind: string, index: number) =>
	`other-${OTHERS.findIndex((each) => each === kind)}-${index}`;

interface Asking {
	elapsed: number;
	/** That of the node's tasks. */
	type: string;
	fault: string | undefined;
	/** Where n8n was killed, or the execution stopped: when that began. Nobody knows when it may have sent what. */
	since: number | undefined;
}

/** What `GET /v1/tasks` answers, and when. */
export function listAnswer(
	{ sent, tasks, elsewhere }: Pick<Service, 'sent' | 'tasks' | 'elsewhere'>,
	{ kind, lag, order, repeats, others, ahead, times }: ListScript,
	{ elapsed, type, fault, since }: Asking,
): { statusCode: number; headers: Record<string, unknown>; body: string } {
	if (fault !== undefined) {
		const { answer = { status: 200 } } = LIST_FAULTS.get(fault) ?? {};
		if ('silence' in answer) throw new Error(`${fault} is no answer`);
		return { statusCode: answer.status, headers: {}, body: textOf(answer) };
	}
	if (kind === 'none') return { statusCode: 404, headers: {}, body: '{"error":"Not found"}' };
	const own = tasks.map((task): Entry => ({ ...task, type }));
	const byOthers = sent.flatMap((each, index) =>
		others.map((other): Entry => {
			const entry = { sent: each, id: idOfOther(other, index), type, createdMs: each.atMs };
			// Older than all that was sent: nobody can tell a later one from its own.
			const [first = each] = sent;
			if (other === 'older') return { ...entry, createdMs: (since ?? first.atMs) - OLDER_MS };
			return other === 'other type'
				? { ...entry, type: type === DOCUMENTED ? 'other' : DOCUMENTED }
				: { ...entry, text: 'Another text' };
		}),
	);
	const listed = [...own, ...byOthers, ...elsewhere.map((each): Entry => ({ ...each, type }))]
		.filter(({ createdMs }) => createdMs + lag * 1_000 <= elapsed)
		.sort((one, another) => (order === 'oldest' ? 1 : -1) * (one.createdMs - another.createdMs));
	if (order === 'shuffled') listed.sort((one, another) => one.id.localeCompare(another.id));
	const serviceTime = (ms: number) => new Date(Date.UTC(2026, 0, 1) + ms + ahead * 1_000);
	const entries = listed.map(({ id, type: named, createdMs, sent: { text: body }, text }) => {
		const { receive_url: _url, voice, ...asked } = JSON.parse(body) as IDataObject;
		const said = text ?? ((asked.text ?? asked.prompt) as string);
		const shown = repeats === 'beginning' ? said.slice(0, 45) : said;
		const content = { [asked.prompt === undefined ? 'text' : 'prompt']: shown };
		return {
			...(repeats === false ? {} : { ...asked, ...content }),
			...(repeats === true && voice !== undefined ? { voice } : {}),
			id,
			type: named,
			status: 'doing',
			...(times === 'never set'
				? { created_at: '0001-01-01T00:00:00Z' }
				: timeOf(serviceTime(createdMs).getTime(), times)),
		};
	});
	return {
		statusCode: 200,
		headers: { date: serviceTime(elapsed).toUTCString() },
		body: JSON.stringify(
			kind === 'data'
				? { data: entries, has_more: false }
				: entries.slice(0, kind === 'short' ? 2 : undefined),
		),
	};
}
