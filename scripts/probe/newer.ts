/** What newer services have beside the specification (docs/service.md, part 3), each asked at the least cost, and what to set for it. */
import { asNumber, isObject } from '../../nodes/MediaGeneration/base/json';
import { recordsOf } from '../../nodes/MediaGeneration/transport/paging';
import { creditsOf, errorTextOf, taskIdOf } from '../../nodes/MediaGeneration/transport/task';
import { inWords, type See } from './findings';
import { type Probing, soundEffect } from './making';
import type { ProbedService } from './service';

/** With these a service says that it has no such route. */
const NO_ROUTE = new Set([404, 405, 410, 501]);

/** Each is as newer services have it, or as the specification does. */
export class Signs {
	private readonly names = { today: [] as string[], specification: [] as string[] };
	private readonly settings: string[] = [];

	/** @param set what to set in the nodes where it is as newer services have it */
	note(name: string, isToday: boolean, set?: string): void {
		this.names[isToday ? 'today' : 'specification'].push(name);
		if (isToday && set !== undefined) this.set(set);
	}

	set(words: string): void {
		this.settings.push(words);
	}

	report(see: See): void {
		const { today, specification } = this.names;
		const listed = (names: string[]) => names.join(', ') || 'nothing';
		const profile =
			today.length === 0 ? 'specification' : specification.length === 0 ? 'today' : 'in between';
		see(
			'profile',
			`${profile}. As today: ${listed(today)}. As the specification: ${listed(specification)}`,
		);
		see('settings', this.settings.join('; ') || 'nothing: the defaults fit');
	}
}

/** Prices, deletion and voices of other providers: nothing is made, and nothing is deleted. */
export async function askFree(
	service: ProbedService,
	{ imageModel }: Pick<Probing, 'imageModel'>,
	{ see, signs }: { see: See; signs: Signs },
): Promise<void> {
	const health = await service.get('/v1/health-check');
	see('health', inWords(health));
	signs.note('health check', health.status === 200);
	const image = { model_id: imageModel, generations_count: 1, assets: 0 };
	const price = await service.post('/v1i/task/price', image);
	const credits = creditsOf(price.json);
	const words = credits === undefined ? inWords(price) : `${credits} credits`;
	see('imagePrice', words, undefined);
	signs.note('prices', !NO_ROUTE.has(price.status), 'Image: Get Price can be used');
	const deletion = await service.post('/v1/task/delete', { task_ids: [] });
	see('deleteNone', inWords(deletion));
	signs.note('deletion', !NO_ROUTE.has(deletion.status), 'Task: Delete can be used');
	const voices = await service.get('/v3/voices?provider=minimax&page=1&page_size=1');
	see('otherVoices', inWords(voices));
	signs.note('voices of other providers', voices.status === 200);
}

/** What the list says of its pages and of the texts in it. */
export async function readList(service: ProbedService, { see, signs }: { see: See; signs: Signs }) {
	const { body, json } = await service.get('/v1/tasks?page=1&limit=20');
	const tasks = (recordsOf(json) ?? []).filter(isObject);
	if (tasks.length === 0) return;
	const isTotal = typeof body.total === 'number';
	see('listPages', isTotal ? 'page, limit and total' : 'another word, or none');
	if (!tasks.some((task) => 'text' in task)) return;
	const cut = tasks.some((task) => 'text_truncated' in task);
	see('listCut', cut ? 'text_length and text_truncated' : 'neither');
	signs.note('a list that cuts texts', cut);
}

/** Forms that have to be refused, as they lack what they need, and a task that is deleted at once. */
export async function spendOnNewer(
	service: ProbedService,
	{ log }: Pick<Probing, 'log'>,
	{ see, signs }: { see: See; signs: Signs },
): Promise<void> {
	const isV3 = service.account.speechRoute === 'v3';
	see('speechRoute', isV3 ? 'v3' : 'v1', !isV3);
	signs.note(
		'speech at v3',
		isV3,
		'Speech Route may stay Automatic; with V3 the list offers the voices of all providers',
	);
	const path = '/v1i/task/generate-image';
	const [asJson, asForm] = [await service.post(path, {}), await service.post(path, {}, true)];
	const saidOf = ({ body }: typeof asJson) => errorTextOf(body) ?? 'no words';
	const isRead = asForm.status === asJson.status && saidOf(asForm) === saidOf(asJson);
	see('imageForm', isRead ? 'as JSON' : `${asForm.status} ${saidOf(asForm)}`);
	signs.note('images as forms', isRead, 'Image: Reference Images can be used');
	const dubbing = await service.post('/v1/task/dubbing', {}, true);
	see('dubbing', inWords(dubbing));
	signs.note('dubbing', !NO_ROUTE.has(dubbing.status), 'Task: Create with Form-Data for dubbing');
	await deleteOne(service, { see, log });
}

async function deleteOne(
	service: ProbedService,
	{ see, log }: { see: See; log: Probing['log'] },
): Promise<void> {
	const [name, request] = soundEffect;
	const id = taskIdOf((await service.create(request)).json);
	if (id === undefined) return;
	log(`Task ${id}: ${name} that is deleted at once`);
	const { status, body } = await service.post('/v1/task/delete', { task_ids: [id] });
	const refunded = asNumber(body.refunded_credits ?? body.refund_credits);
	const words = `${status}, ${refunded === undefined ? 'no word of a refund' : `${refunded} credits back`}`;
	const after = (await service.look('v1', id)).status;
	see('deleted', `${words}; ${after === 200 ? 'still shown' : `then ${after}`}`);
}
