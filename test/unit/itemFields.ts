/** The fields of an item, as a workflow has them. */
import type { IBinaryKeyData, INodeParameters } from 'n8n-workflow';
import { ItemFields } from '../../nodes/MediaGeneration/actions/fields';
import { FailureError, type Failure } from '../../nodes/MediaGeneration/base/outcomes';
import { fakeN8n } from '../support/n8n';

/** @param more `typed`: the parameters as the workflow has them, expressions included */
export function fieldsWith(
	parameters: Record<string, unknown>,
	more: { typed?: object; binary?: IBinaryKeyData } = {},
): ItemFields {
	const { typed = parameters, binary = {} } = more;
	const node = { parameters: typed as INodeParameters };
	return new ItemFields(fakeN8n({ node, parameters, input: [{ json: {}, binary }] }).context, 0);
}

/** What is refused, in its words. */
export function refusalOf(read: () => unknown): Pick<Failure, 'message' | 'description'> {
	try {
		read();
	} catch (error) {
		if (!(error instanceof FailureError)) throw error;
		expect(error.failure.outcome).toBe('invalid');
		const { message, description } = error.failure;
		return { message, description };
	}
	throw new Error('It was not refused');
}

/** The words for a field that has nothing in it. */
export const empty = (label: string) => [
	`The field '${label}' is empty`,
	`Fill in '${label}'. If it is an expression, check that this item has a value for it.`,
];
export const noText = (label: string) => [
	`The field '${label}' is not text`,
	`Enter text in '${label}'. An expression must return text, not an object or a list.`,
];
