/** Puts files into items: one item for all of them or, with Split Files, one for each. */
import type { IBinaryKeyData, IDataObject, INodeExecutionData } from 'n8n-workflow';
import type { FileSettings } from '../actions/fileSettings';
import { MAX_FILES } from '../base/bounds';
import type { DeliveredItems, OutputFile } from './outputFile';

export const fieldName = (base: string, index: number): string =>
	index === 0 ? base : `${base}_${index}`;

/** Chooses the files of each item. Each item copies the task, so the last one has the files beyond a hundred. */
function split(files: readonly OutputFile[]): OutputFile[][] {
	const there = files.filter(({ problem }) => problem === undefined);
	const rest = there.slice(MAX_FILES);
	return [...there.slice(0, MAX_FILES).map((file) => [file]), ...(rest.length > 0 ? [rest] : [])];
}

/** The first file is in the field `data`, the next ones in `data_1`, ... A file that is not in the store takes a number, but gets no field. */
export function itemsOf(
	files: readonly OutputFile[],
	{ splitFiles, outputBinaryField }: Pick<FileSettings, 'splitFiles' | 'outputBinaryField'>,
	{ json, index }: { json: IDataObject; index: number },
): Pick<DeliveredItems, 'items' | 'outputs'> {
	const isSplit = splitFiles && files.length > 0;
	const made = (isSplit ? split(files) : [files]).map((own) => {
		const fields: IBinaryKeyData = {};
		const outputs = own.map(({ output, binary }, number) => {
			if (binary === undefined) return output;
			const binaryProperty = fieldName(outputBinaryField, number);
			fields[binaryProperty] = binary;
			return { ...output, binaryProperty };
		});
		const item: INodeExecutionData = { json: { ...json, outputs }, pairedItem: { item: index } };
		if (Object.keys(fields).length > 0) item.binary = fields;
		return { item, outputs };
	});
	const outputs = isSplit
		? files.map(({ output }) => output)
		: made.flatMap(({ outputs: own }) => own);
	return { items: made.map(({ item }) => item), outputs };
}
