/**
 * From a part to its task: taken up where an earlier try has made it, found again where the answer to its creation never came, or
 * created. The ledger knows at each moment what may have been paid for.
 */
import type { Created } from '../create/creation';
import {
	creationsOf,
	READ_AFTER_MS,
	withCandidates,
	type Finding,
	type Search,
} from '../create/find';
import { createTask, type SubmitDeps, type Submitted } from '../create/submit';
import { adviceOn } from '../operations/refusal';
import type { ItemSettings } from '../operations/waiting';
import { logOf, quietly } from '../service/clean';
import { broken, type Failure } from '../service/failures';
import { asText } from '../service/json';
import type { Failed } from '../service/verdict';
import type { CreatedPart, Means } from './item';

export interface KnownTask {
	kind: 'task';
	taskId: string;
	createdAt: number;
	/** Whether it was made before this run, so that it may be over already. */
	old: boolean;
	/** The creation's answer; undefined of a task that was only named. */
	created: Created | undefined;
}

export type CreationMeans = Means & Pick<SubmitDeps, 'over'>;

async function look(
	{ client, now, sleep, over }: CreationMeans,
	search: Pick<Search, 'request' | 'sentAt' | 'readAfterMs' | 'fewer'>,
): Promise<Finding> {
	const clock = { now, sleep };
	return await creationsOf(client.account).find({ ...search, client, clock, signal: over });
}

/** The task that an earlier try, or the execution that n8n's Retry repeats, has made without a word of it. One reading of the list has to do. */
async function findEarlier(
	means: CreationMeans,
	{ slot, request, earlier }: CreatedPart,
	{ findUnclear }: ItemSettings,
): Promise<Created | undefined> {
	const { beganAt, ledger } = means;
	if (!findUnclear || earlier.kind === 'created') return undefined;
	const unsaid = beganAt === undefined ? undefined : { request, sentAt: beganAt };
	const sending = earlier.kind === 'nothing' ? unsaid : earlier.sending;
	if (sending === undefined) return undefined;
	const fewer = earlier.kind === 'nothing';
	const finding = await look(means, { ...sending, readAfterMs: [0], fewer });
	if (finding.kind !== 'found') return undefined;
	ledger.noteCreated(slot, request, finding.created);
	return finding.created;
}

/** Where nothing is known of it afterwards it is looked for, and counts as created where it is found. */
async function createOrFind(
	means: CreationMeans,
	{ slot, request }: CreatedPart,
	{ findUnclear, timeoutMs }: ItemSettings,
): Promise<Submitted> {
	const { ledger, now } = means;
	try {
		ledger.noteSending(slot, { request, sentAt: now() });
	} catch (error) {
		return { kind: 'failed', failure: broken(error, { kind: 'nothing' }) };
	}
	const submitted = await createTask(means, request, now() + timeoutMs);
	if (submitted.kind === 'created') ledger.noteCreated(slot, request, submitted.created);
	if (submitted.kind === 'failed') ledger.forget(slot);
	if (submitted.kind !== 'unclear') return submitted;
	const sending = { request, sentAt: submitted.sentAt };
	// Noted before it is looked for, as the execution may be stopped meanwhile.
	quietly(() => ledger.noteSending(slot, sending));
	ledger.noteUnknown(slot, request, submitted.failure);
	if (!findUnclear || submitted.failure.taskId !== undefined) return submitted;
	const finding = await look(means, { ...sending, readAfterMs: READ_AFTER_MS, fewer: false });
	if (finding.kind === 'found') {
		const created = { ...finding.created, receiveUrl: asText(request.body.receive_url) };
		ledger.noteCreated(slot, request, created);
		return { kind: 'created', created, found: true };
	}
	const failure = withCandidates(submitted.failure, finding.candidates);
	ledger.noteUnknown(slot, request, failure);
	return { ...submitted, failure };
}

/** The part's task, or why there is none and none may be made. */
export async function taskOf(
	means: CreationMeans,
	part: CreatedPart,
	settings: ItemSettings,
): Promise<KnownTask | Failed> {
	const { context, spending } = means;
	const { request, earlier, slot } = part;
	const log = logOf(context);
	const where = `for item ${slot.item} of execution ${context.getExecutionId()}`;
	const known = (created: Created, old: boolean): KnownTask => {
		// Should n8n die before the execution is saved, the log has the ID of every task that is paid for.
		log.info(`Media Generation: task ${created.taskId} ${where}`);
		return { kind: 'task', ...created, created, old };
	};
	const failed = (failure: Failure): Failed => ({ kind: 'failed', failure, task: undefined });
	if (earlier.kind === 'created') return known(earlier.created, true);
	const route = { kind: request.kind, route: settings.pollRoute };
	const found = await findEarlier(means, part, settings);
	if (found !== undefined) {
		spending.takeUp(found, route);
		return known(found, true);
	}
	if (earlier.kind === 'unknown') return failed(earlier.failure);
	const turn = await spending.turn(route);
	if (turn.kind === 'refused') return failed(turn.failure);
	const submitted = await createOrFind(means, part, settings);
	turn.end(submitted);
	if (submitted.kind === 'created') return known(submitted.created, false);
	const { failure } = submitted;
	if (failure.taskId !== undefined)
		log.warn(`Media Generation: task ${failure.taskId} ${where} may exist`);
	if (failure.outcome !== 'rejected') return failed(failure);
	const advice = adviceOn(failure.message, request, settings.longText);
	return failed({ ...failure, description: `${failure.description}${advice}` });
}
