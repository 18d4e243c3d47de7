import { json, refusal, type Answer } from './answer';
import type { Context } from './context';
import { bodyOf, Form } from './form';
import { creationFault, FILES, type CreationFault } from './validation';
import { played } from './played';
import { steeringOf } from './tasks';
import type { JsonObject, RecordedRequest, Settings, TaskKind, TaskRecord } from './types';

/** How long a creation waits for the callback that is to come before its answer. */
export const BEFORE_ANSWER_MS = 10_000;

/** docs/service.md, "Endpoints": checks a creation, charges it, and answers at once with its `task_id`. */
export async function create(
	context: Context,
	kind: TaskKind,
	record: RecordedRequest,
	params: TaskRecord['params'],
): Promise<Answer> {
	const { settings, store } = context;
	const given = record.body instanceof Form ? bodyOf(record.body) : record.body;
	const fault = formFault(kind, record, settings) ?? creationFault(kind, given, params, settings);
	if (fault) return refusal(settings, fault.status, fault.error);
	const body = given as JsonObject;
	const example = played(steeringOf(body).answer, 'creation');
	if (example) return example;
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

/** Which bodies a route takes. */
function formFault(
	kind: TaskKind,
	{ body }: RecordedRequest,
	{ moreRoutes, speechRoute }: Settings,
): CreationFault | null {
	const isForm = body instanceof Form;
	const forms = [...Object.keys(FILES), 'dialogue', speechRoute === 'v3' && 'speech_by_id'];
	const mustBe = forms.includes(kind);
	const mayBe = mustBe || (kind === 'image' && moreRoutes);
	if (isForm && !mayBe) return { status: 400, error: 'The request body must be a JSON object' };
	if (mustBe && !isForm) return { status: 400, error: 'The request must be multipart/form-data' };
	return null;
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

export function costOf({ settings }: Context, kind: TaskKind, body: JsonObject): number {
	const each = settings.costs[kind];
	const assets = Array.isArray(body.assets) ? body.assets.length : 0;
	const { cost: steered } = steeringOf(body);
	if (steered !== undefined || kind !== 'image') return steered ?? each;
	return each * Number(body.generations_count ?? 1) + (assets * each) / 10;
}

/** docs/service.md, "HTTP": 401 or 402 when the credits are out. */
function cannotPay({ settings }: Context, cost: number): Answer | null {
	if (settings.credits >= cost) return null;
	if (settings.moreRoutes) return refusal(settings, 401, 'Insufficient credits');
	return refusal(settings, 402, 'Insufficient credits: please top up your balance');
}

/** docs/service.md, "HTTP": 429 with a code, and nothing was created. */
function tooMany({ settings, store }: Context): Answer | null {
	if (settings.activeTaskLimit === null || store.active < settings.activeTaskLimit) return null;
	const words = `Too many active tasks: at most ${settings.activeTaskLimit} at a time`;
	return refusal(settings, 429, words, 'active_task_limit');
}
