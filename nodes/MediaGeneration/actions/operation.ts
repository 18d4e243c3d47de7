import type { IDisplayOptions, INodeProperties } from 'n8n-workflow';
import type { JsonObject } from '../base/json';
import type { CreationRequest } from '../answers/request';
import type { Reading } from '../transport/reading';
import type { InputFile, ItemFields } from './fields';

export type Job =
	/** Costs money. The request throws an `invalid` failure for bad input. */
	| {
			kind: 'creates';
			request(fields: ItemFields): CreationRequest;
			files?(fields: ItemFields): InputFile[];
			/** Whether the service may want a Callback URL even if the node waits. */
			callsBack?: boolean;
	  }
	| { kind: 'awaits' }
	| { kind: 'joins' }
	/** Costs nothing, so a request that fails for the moment is repeated. Throws a FailureError. */
	| { kind: 'reads'; read(from: ReadSource, fields: ItemFields): Promise<JsonObject[]> };

export type ReadSource = Pick<Reading, 'client' | 'signal'>;

export interface Operation {
	/** Name in saved workflows. */
	value: string;
	name: string;
	action: string;
	/** By `ui.costing`, if it creates tasks. */
	description: string;
	/** What the canvas says; without it, the action in title case. */
	subtitle?: string;
	/** The canvas shows the value of this field beside the subtitle. */
	subtitleField?: string;
	work: Job;
}

/** Makes an operation that lists entries. @param what e.g. "tasks" @param details what more its description says of them */
export const getMany = (
	what: string,
	details: string,
	read: Extract<Job, { kind: 'reads' }>['read'],
): Operation => ({
	value: 'getAll',
	name: 'Get Many',
	action: `Get many ${what}`,
	description: `Get many ${what} ${details}`,
	work: { kind: 'reads', read },
});

export interface Resource {
	value: string;
	name: string;
	operations: readonly [Operation, ...Operation[]];
	/** The default is the first one. Never change it: workflows are saved without a field that has its default value. If a new operation comes first, it is the old one's `value`. */
	defaultOperation?: string;
	displayOptions?: IDisplayOptions;
	/** Fields that several resources share are not here. Each is shown for all operations, unless it lists some. */
	fields?: readonly INodeProperties[];
	/** Options beside those of every operation that creates tasks. */
	options?: readonly INodeProperties[];
}
