/** A field for something that the service may publish a list of: filled in by ID, or picked from the list. */
import type { INodeProperties } from 'n8n-workflow';

/** The names under which the node answers the editor's request for a list. */
export type ListName = 'searchImageModels' | 'searchSpeechModels' | 'searchVoices';

interface Located extends Pick<
	INodeProperties,
	'displayName' | 'name' | 'description' | 'displayOptions' | 'placeholder' | 'required'
> {
	list: ListName;
}

/** "By ID" stands first: workflows that are older than the list have a plain text in the field, which the editor reads in the first mode. */
export function locator({ list, placeholder, ...field }: Located): INodeProperties {
	return {
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
}
