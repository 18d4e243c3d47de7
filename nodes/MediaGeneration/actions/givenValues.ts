/** Finds what the fields of a node, and the options, filters and settings beside them, have for an item. */
import type {
	IBinaryKeyData,
	IExecuteFunctions,
	INodeExecutionData,
	INodeProperties,
} from 'n8n-workflow';
import type { JsonObject } from '../base/json';
import { itemFiles } from '../n8n/itemFiles';
import { checkTyped, NodeParameters, objectIn, rowsIn, valueIn } from './parameters';

/** What an item gives the fields of a node. */
export class GivenValues {
	private resolved: JsonObject | undefined;

	constructor(
		private readonly context: IExecuteFunctions,
		readonly itemIndex: number,
		protected readonly parameters = new NodeParameters(context),
	) {}

	get input(): INodeExecutionData {
		return this.context.getInputData()[this.itemIndex] ?? { json: {} };
	}

	get files(): IBinaryKeyData {
		return itemFiles(this.context, this.itemIndex);
	}

	/** Returns the one that the workflow is set to. */
	get timeZone(): string {
		return this.context.getTimezone();
	}

	/** Reads a field, or the option or filter of that name. Returns undefined if the workflow has none, e.g. because it is hidden. A locator may be a plain text. */
	raw(name: string): unknown {
		const isOption = Object.hasOwn(this.options, name);
		return (
			valueIn(isOption ? this.options[name] : this.parameters.read(name, this.itemIndex, null)) ??
			undefined
		);
	}

	/** Options, filters and voice settings. n8n resolves a whole collection on each reading; once per item is enough. */
	get options(): JsonObject {
		const collection = (name: string) => objectIn(this.parameters.read(name, this.itemIndex, {}));
		this.resolved ??= {
			...collection('filters'),
			...collection('voiceSettings'),
			...collection('options'),
		};
		return this.resolved;
	}

	/** Whether the workflow has a field or an option, even if its expression leads to nothing. */
	protected has(name: string): boolean {
		const isOption = Object.hasOwn(this.options, name);
		return isOption || this.raw(name) !== undefined || this.parameters.typed(name) !== undefined;
	}

	rows({ displayName, name, options = [] }: INodeProperties): JsonObject[] {
		const entry = options[0]?.name ?? '';
		const typed = rowsIn(this.parameters.typed(name), entry);
		for (const value of typed.flatMap((row) => Object.values(row))) checkTyped(value, displayName);
		return rowsIn(this.raw(name), entry);
	}
}
