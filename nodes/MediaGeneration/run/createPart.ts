/**
 * From a part to its task: taken up where an earlier try has made it, found again where the answer to its creation never came, or
 * created. The ledger knows at each moment what may have been paid for.
 */
import { withoutReceiveUrl, type Created } from '../create/creation';
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
import { broken } from '../service/failures';
import type { Failed } from '../service/verdict';
import { receiveUrlOf, type CreatedPart, type Means } from './item';

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
	// A task of another execution calls that one when it is over.
	const made = earlier.kind === 'unknown' ? request : withoutReceiveUrl(request);
	ledger.noteCreated(slot, made, finding.created);
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
		ledger.noteCreated(slot, request, finding.created);
		return { kind: 'created', created: finding.created, found: true };
	}
	const failure = withCandidates(submitted.failure, finding.candidates);
	ledger.noteUnknown(slot, request, failure);
	return { ...submitted, failure };
}

const whereOf = ({ context }: CreationMeans, { slot }: CreatedPart) =>
	`for item ${slot.item} of execution ${context.getExecutionId()}`;

/** The task that an earlier try or execution has made, or why no other one may be made; undefined where it is to be created. */
export async function takeUp(
	means: CreationMeans,
	part: CreatedPart,
	settings: ItemSettings,
): Promise<KnownTask | Failed | undefined> {
	const { request, earlier } = part;
	const log = logOf(means.context);
	const where = whereOf(means, part);
	if (earlier.kind === 'created') {
		const { created, receiveUrl } = earlier;
		log.info(`Media Generation: task ${created.taskId} ${where}`);
		return { kind: 'task', ...created, created, old: true, receiveUrl };
	}
	const found = await findEarlier(means, part, settings);
	if (found !== undefined) {
		means.spending.takeUp(found, { kind: request.kind, route: settings.pollRoute });
		log.info(`Media Generation: task ${found.taskId} ${where}, found in the list of tasks`);
		const receiveUrl = earlier.kind === 'unknown' ? receiveUrlOf(request) : undefined;
		return { kind: 'task', ...found, created: found, old: true, receiveUrl };
	}
	return earlier.kind === 'unknown'
		? { kind: 'failed', failure: earlier.failure, task: undefined }
		: undefined;
}

export async function createPart(
	means: CreationMeans,
	part: CreatedPart,
	settings: ItemSettings,
): Promise<KnownTask | Failed> {
	const { request } = part;
	const { pollRoute: route, longText } = settings;
	const log = logOf(means.context);
	const where = whereOf(means, part);
	const turn = await means.spending.turn({ kind: request.kind, route });
	if (turn.kind === 'refused') return { kind: 'failed', failure: turn.failure, task: undefined };
	const submitted = await createOrFind(means, part, settings);
	turn.end(submitted);
	if (submitted.kind === 'created') {
		const { created } = submitted;
		// Should n8n die before the execution is saved, the log has the ID of every task that is paid for.
		log.info(`Media Generation: task ${created.taskId} ${where}`);
		return { kind: 'task', ...created, created, old: false, receiveUrl: receiveUrlOf(request) };
	}
	const { failure } = submitted;
	if (failure.taskId !== undefined)
		log.warn(`Media Generation: task ${failure.taskId} ${where} may exist`);
	const advice = failure.outcome === 'rejected' ? adviceOn(failure.message, request, longText) : '';
	const description = `${failure.description}${advice}`;
	return { kind: 'failed', failure: { ...failure, description }, task: undefined };
}
