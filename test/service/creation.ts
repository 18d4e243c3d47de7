import { json, refusal, type Answer } from './answer';
import type { Context } from './context';
import { creationFault } from './validation';
import type { JsonObject, RecordedRequest, TaskKind, TaskRecord } from './types';

/** How long a creation waits for the callback that is to come before its answer. */
const BEFORE_ANSWER_MS = 10_000;

/** docs/service.md, "Endpoints": checks a creation, charges it, and answers at once with its `task_id`. */
export async function create(
	context: Context,
	kind: TaskKind,
	record: RecordedRequest,
	params: TaskRecord['params'],
): Promise<Answer> {
	const { settings, store } = context;
	const fault = creationFault(kind, record.body, params);
	if (fault) return refusal(settings, fault.status, fault.error);
	const body = record.body as JsonObject;
	const cost = costOf(context, kind, body);
	const refused = cannotPay(context, cost) ?? tooMany(context);
	if (refused) return refused;

	const task = store.create({ kind, body, params, cost });
	record.taskId = task.id;
	const early = task.steering.callback_before_answer ?? settings.callbacks.beforeCreationAnswer;
	if (early && task.receiveUrl !== null) {
		store.finish(task, {});
		await Promise.race([
			context.callbacks.settled(task.id),
			context.timers.sleep(BEFORE_ANSWER_MS),
		]);
	}
	return created(context, task);
}

function created({ settings }: Context, task: TaskRecord): Answer {
	const number = (value: number) => (settings.numbersAsStrings ? String(value) : value);
	return json(200, {
		success: true,
		task_id: task.id,
		ec_remain_credits: number(settings.credits),
		...(task.kind === 'image' ? { estimated_credits: number(task.cost) } : {}),
	});
}

function costOf({ settings }: Context, kind: TaskKind, body: JsonObject): number {
	const each = settings.costs[kind];
	return kind === 'image' ? each * Number(body.generations_count ?? 1) : each;
}

/** docs/service.md, "HTTP": 401 or 402 when the credits are out. */
function cannotPay({ settings }: Context, cost: number): Answer | null {
	if (settings.credits >= cost) return null;
	return refusal(settings, 402, 'Insufficient credits: please top up your balance');
}

/** docs/service.md, "HTTP": 429 with a code, and nothing was created. */
function tooMany({ settings, store }: Context): Answer | null {
	if (settings.activeTaskLimit === null || store.active < settings.activeTaskLimit) return null;
	const words = `Too many active tasks: at most ${settings.activeTaskLimit} at a time`;
	return refusal(settings, 429, words, 'active_task_limit');
}
