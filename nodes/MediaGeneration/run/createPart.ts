/** From a part to its task: taken up where an earlier try has made it, found again, or created. */
import { createOrFind, findEarlier, type CreateDeps, type Wanted } from '../create/create';
import type { Created } from '../create/submit';
import { adviceOn } from '../operations/refusal';
import type { Failed } from '../service/verdict';
import { receiveUrlOf, type Item, type Part } from './item';
import type { Spending } from './spending';

export interface CreationMeans extends CreateDeps {
	spending: Spending;
	/** What survives the process. */
	log: { info(line: string): void; warn(line: string): void };
	executionId: string;
}

/** A task that exists, and what is needed to follow it. */
export interface KnownTask {
	kind: 'task';
	taskId: string;
	createdAt: number;
	/** Whether it was made before this run, so that it may be over already. */
	old: boolean;
	/** Where the service reports its end; undefined where it does not. */
	receiveUrl: string | undefined;
	/** The creation's answer; undefined of a task that was only named. */
	created: Created | undefined;
}

type Creating = Extract<Part, { kind: 'creates' }>;
type Whose = Pick<Item, 'index' | 'settings'>;

const wantedFor = (
	{ now }: CreationMeans,
	{ number, request, earlier }: Creating,
	{ index, settings }: Whose,
): Wanted => ({
	slot: { item: index, part: number },
	request,
	earlier,
	finds: settings.findUnclear,
	deadline: now() + settings.timeoutMs,
});

/** The task that an earlier try or execution has made, or why no other one may be made; undefined where it is to be created. */
export async function takeUp(
	means: CreationMeans,
	part: Creating,
	item: Whose,
): Promise<KnownTask | Failed | undefined> {
	const { spending, log } = means;
	const { request, earlier } = part;
	const route = { kind: request.kind, route: item.settings.pollRoute };
	const where = whereOf(means, item);
	if (earlier.kind === 'created') {
		const { created, receiveUrl } = earlier;
		log.info(`Media Generation: task ${created.taskId} ${where}`);
		return { kind: 'task', ...created, created, old: true, receiveUrl };
	}
	const found = await findEarlier(means, wantedFor(means, part, item));
	if (found !== undefined) {
		spending.takeUp(found, route);
		log.info(`Media Generation: task ${found.taskId} ${where}, found in the list of tasks`);
		const receiveUrl = earlier.kind === 'unknown' ? receiveUrlOf(request) : undefined;
		return { kind: 'task', ...found, created: found, old: true, receiveUrl };
	}
	if (earlier.kind === 'unknown')
		return { kind: 'failed', failure: earlier.failure, task: undefined };
	return undefined;
}

const whereOf = ({ executionId }: CreationMeans, { index }: Whose) =>
	`for item ${index} of execution ${executionId}`;

export async function createPart(
	means: CreationMeans,
	part: Creating,
	item: Whose,
): Promise<KnownTask | Failed> {
	const { spending, log } = means;
	const { request } = part;
	const { settings } = item;
	const where = whereOf(means, item);
	const turn = await spending.turn({ kind: request.kind, route: settings.pollRoute });
	if (turn.kind === 'refused') return { kind: 'failed', failure: turn.failure, task: undefined };
	const submitted = await createOrFind(means, wantedFor(means, part, item));
	turn.end(submitted);
	if (submitted.kind !== 'created') {
		const { failure } = submitted;
		if (failure.taskId !== undefined)
			log.warn(`Media Generation: task ${failure.taskId} ${where} may exist`);
		const advice =
			failure.outcome === 'rejected' ? adviceOn(failure.message, request, settings.longText) : '';
		const description = `${failure.description}${advice}`;
		return { kind: 'failed', failure: { ...failure, description }, task: undefined };
	}
	const { created } = submitted;
	// Should n8n die before the execution is saved, the log has the ID of every task that is paid for.
	log.info(`Media Generation: task ${created.taskId} ${where}`);
	return { kind: 'task', ...created, created, old: false, receiveUrl: receiveUrlOf(request) };
}
