/** Fields for what the service knows best: picked from its list or entered by ID, or chosen from known values, or any other. */
import type { INodeProperties, INodePropertyOptions } from 'n8n-workflow';

/** The names under which the node answers the editor's request for a list. */
export type ListName = 'searchImageModels' | 'searchSpeechModels' | 'searchVoices';

interface Located extends Pick<
	INodeProperties,
	'displayName' | 'name' | 'description' | 'displayOptions' | 'placeholder' | 'required'
> {
	list: ListName;
}

/**
 * A picker. From version 1.1 of the node the list comes first. In version 1 it is the ID, as the editor reads a plain text, which
 * workflows older than the list have, in the first mode.
 */
export function locator({ list, placeholder, ...field }: Located): INodeProperties[] {
	const byIdFirst: INodeProperties = {
		...field,
		type: 'resourceLocator',
		default: { mode: 'id', value: '' },
		modes: [
			{ displayName: 'By ID', name: 'id', type: 'string', placeholder },
			{
				displayName: 'From List',
				name: 'list',
				type: 'list',
				typeOptions: { searchListMethod: list, searchable: true },
			},
		],
	};
	const listFirst: INodeProperties = {
		...byIdFirst,
		default: { mode: 'list', value: '' },
		modes: [...(byIdFirst.modes ?? [])].reverse(),
	};
	return [byIdFirst, listFirst].map((picker, index) => ({
		...picker,
		displayOptions: {
			show: { ...field.displayOptions?.show, '@version': [index === 0 ? 1 : 1.1] },
		},
	}));
}

/** A field that offers known values and takes any other, which workflows carry as a plain text. */
export function openChoice(
	field: Pick<INodeProperties, 'displayName' | 'name' | 'displayOptions' | 'description'>,
	known: INodePropertyOptions[],
): INodeProperties {
	return {
		...field,
		type: 'options',
		allowArbitraryValues: true,
		options: [{ name: 'Not Set', value: '', description: 'Left out of the request' }, ...known],
		default: '',
		description: `${field.description} For a value that is not in the list, switch to Expression and enter it.`,
	};
}
