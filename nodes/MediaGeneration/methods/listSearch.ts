/** Serves "From List" in the editor: a page of a list, or an error in its place. */
import { NodeApiError, type ILoadOptionsFunctions, type INodeListSearchResult } from 'n8n-workflow';
import {
	listPages,
	noList,
	type List,
	type ListPosition,
	type ListQuery,
} from '../actions/pickLists';
import { models } from '../actions/model';
import { SERVICE_DEFAULT, type ListName } from '../actions/ui';
import { voicesOf } from '../actions/voice';
import { asFailure, type Failure } from '../base/outcomes';
import { parseJson } from '../base/json';
import { cleanerOf } from '../n8n/clean';
import { openClient } from '../transport/client';

const lists: Record<ListName, List> = {
	searchImageModels: models.image,
	searchSpeechModels: models.speech,
	searchVoices: voicesOf(),
};

async function search(
	query: ListQuery,
	from: ListPosition | undefined,
): Promise<INodeListSearchResult> {
	let isThere = false;
	for await (const { entries, next } of listPages(query, from)) {
		isThere = true;
		const results = entries.map(({ value, name, description = '', link = '' }) => {
			const more = {
				...(description !== '' && { description }),
				...(link !== '' && { url: link }),
			};
			return { value, name, ...more };
		});
		if (results.length > 0)
			return next === undefined ? { results } : { results, paginationToken: JSON.stringify(next) };
	}
	// An empty search result is an answer; an empty list is not.
	if (isThere && (query.words !== '' || from !== undefined)) return { results: [] };
	throw noList(query.list.what);
}

/** The editor shows description and status of a NodeApiError only. */
function asShown(context: ILoadOptionsFunctions, failure: Failure): NodeApiError {
	const { httpStatus, message } = failure;
	const description = `${failure.description} Or choose By ID and enter the ID as the service shows it.`;
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
		const list = lists[name];
		const words = filter.trim();
		const found = await search({ client, signal: undefined, list, words }, from);
		const isFirst = list.optional && words === '' && from === undefined;
		return isFirst ? { ...found, results: [SERVICE_DEFAULT, ...found.results] } : found;
	} catch (error) {
		throw asShown(context, asFailure(error));
	}
}
