/** Serves "From List" in the editor: a page of a list, or an error in its place. */
import { NodeApiError, type ILoadOptionsFunctions, type INodeListSearchResult } from 'n8n-workflow';
import type { PickList } from '../actions/pickLists';
import { acceptedValues } from '../actions/image';
import { models } from '../actions/model';
import { expressionIn, valueIn } from '../actions/parameters';
import { SERVICE_DEFAULT, type ListName } from '../actions/ui';
import { voicesOf } from '../actions/voice';
import { asFailure, FailureError, type Failure } from '../base/outcomes';
import { parseJson, trimmedText } from '../base/json';
import { cleanerOf } from '../n8n/clean';
import { openClient } from '../transport/client';
import { readPages, type ListPosition } from '../transport/pages';

/** Returns the model that the node has; empty if it has none, or one that only a run knows. */
function chosenModel(context: ILoadOptionsFunctions): string {
	const value = valueIn(context.getCurrentNodeParameter('modelId'));
	return expressionIn(value) === undefined ? (trimmedText(value) ?? '') : '';
}

/** Each makes the list of what has some words in it. */
const lists: Record<ListName, (words: string, context: ILoadOptionsFunctions) => PickList> = {
	searchAspectRatios: (_, context) => acceptedValues('aspect_ratios', chosenModel(context)),
	searchImageModels: models.image,
	searchResolutions: (_, context) => acceptedValues('resolutions', chosenModel(context)),
	searchSpeechModels: models.speech,
	searchVoices: (words) => voicesOf(words),
};

/** The editor shows description and status of a NodeApiError only. */
function asShown(context: ILoadOptionsFunctions, failure: Failure): NodeApiError {
	const { httpStatus, message } = failure;
	const description = `${failure.description} Or choose By ID and enter it as the service shows it.`;
	const httpCode = httpStatus === undefined ? undefined : String(httpStatus);
	const shown = new NodeApiError(
		context.getNode(),
		{ message },
		{ message, description, httpCode },
	);
	// n8n replaces some messages by its own when the error is made.
	return cleanerOf(context).error(Object.assign(shown, { message })) as NodeApiError;
}

export async function searchList(
	context: ILoadOptionsFunctions,
	name: ListName,
	{ filter = '', paginationToken = '' }: { filter?: string; paginationToken?: string },
): Promise<INodeListSearchResult> {
	const from = (parseJson(paginationToken) ?? undefined) as ListPosition | undefined;
	try {
		const client = await openClient(context);
		const words = filter.trim();
		const list = lists[name](words, context);
		// The first page that has any entries.
		const isPast = (page: readonly unknown[]) => page.length > 0;
		const { entries, next } = await readPages(list, { client, from, limit: Infinity, isPast });
		const isFirst = words === '' && from === undefined;
		// An empty search result is an answer; an empty list is not.
		if (isFirst && entries.length === 0) throw new FailureError(list.none);
		const results = entries.map(({ value, name: shown, description = '', link = '' }) => ({
			...{ value, name: shown },
			...(description !== '' && { description }),
			...(link !== '' && { url: link }),
		}));
		return {
			results: isFirst && list.optional ? [SERVICE_DEFAULT, ...results] : results,
			...(next && { paginationToken: JSON.stringify(next) }),
		};
	} catch (error) {
		throw asShown(context, asFailure(error));
	}
}
