/** Makes the output of an execution that wakes: one item for each sleeping item, in order, because n8n links them by position. */
import type { IDataObject, INodeExecutionData } from 'n8n-workflow';
import type { Failure } from '../base/outcomes';
import { assemble } from '../files/assembly';
import { failureItem, plainFailureItem } from '../items/nodeError';
import { noteWaking, outcomesIn } from '../items/executionSummary';
import { Delivery } from '../files/delivery';
import { carryInput } from '../items/itemJson';
import { failureOfText, leftIn, type Assembly } from '../items/parts';
import { cleanItems } from '../n8n/clean';
import type { Done } from '../answers/verdict';
import type { Ends } from './ends';
import type { WaitingItem } from './notes';
import type { StoredSleep } from './wakingCall';

export async function wokenItems(
	{ context, client, items, notes }: StoredSleep,
	ends: Ends,
	signal: AbortSignal,
): Promise<INodeExecutionData[]> {
	const delivery = new Delivery(context, { baseUrl: client.credentials.baseUrl, signal });
	const output = await Promise.all(
		items.map(async (item, index) => {
			const note = notes.items[index];
			const woken = note && (await wokenItem(delivery, ends, { note, item, index }));
			return woken ?? { ...item, pairedItem: { item: index } };
		}),
	);
	noteWaking(context, outcomesIn(output));
	return await cleanItems(context, output);
}

/** Returns undefined if the item's own deadline passed before its tasks had finished: it stays as it is. */
async function wokenItem(
	delivery: Delivery,
	ends: Ends,
	{ note, item, index }: { note: WaitingItem; item: INodeExecutionData; index: number },
): Promise<INodeExecutionData | undefined> {
	const { tasks, files, carriesInput } = note;
	const assembly: Assembly = leftIn(item.json)?.assembly ?? {
		longText: { kind: 'off' },
		texts: [],
	};
	const carried = carriesInput ? (item.json.input as IDataObject) : undefined;
	const taskIds = tasks.map(({ taskId }) => taskId);
	const node = delivery.context.getNode();
	const itemWith = (failure: Failure, shown?: Parameters<typeof failureItem>[2]) =>
		plainFailureItem(node, carryInput(failureItem(node, { failure, index }, shown), carried));
	const parts: Done[] = [];
	for (const [number, taskId] of taskIds.entries()) {
		const end = ends.get(taskId);
		if (end === undefined || end === 'late') return undefined;
		if (end.kind === 'failed')
			return itemWith(failureOfText(end.failure, { number, assembly, taskIds }));
		parts.push(end);
	}
	const input = { index, assembly, settings: { files } };
	const { items, outputs, failure } = await assemble(delivery, parts, input);
	const [made] = items;
	if (failure === undefined) return made && carryInput(made, carried);
	return itemWith(failure, { outputs, binary: made?.binary });
}
