/**
 * Finds the files of an input item. n8n keeps them in `binary`, or, with the workflow setting "binaryMode: combined", in `json._files`
 * (`convertBinaryData`, n8n-core 2.41). Only n8n's own helper knows the setting: JSON from outside can have such a field, too, and must not
 * give access to files of others.
 */
import type { IBinaryData, IBinaryKeyData, IExecuteFunctions } from 'n8n-workflow';
import { isObject } from '../base/json';

type FileContext = Pick<IExecuteFunctions, 'getInputData' | 'helpers'>;

const MOVED_TO = '_files';

function movedFile(context: FileContext, index: number, name: string): IBinaryData | undefined {
	try {
		return context.helpers.assertBinaryData(index, `${MOVED_TO}[${JSON.stringify(name)}]`);
	} catch {
		return undefined;
	}
}

export function itemFiles(context: FileContext, index: number): IBinaryKeyData {
	const item = context.getInputData()[index];
	const files: IBinaryKeyData = { ...item?.binary };
	const moved = item?.json[MOVED_TO];
	for (const name of isObject(moved) ? Object.keys(moved) : []) {
		const file = movedFile(context, index, name);
		if (file !== undefined) files[name] ??= file;
	}
	return files;
}

/** @param given name of a field, or its path in the JSON, as n8n's own nodes take it */
export function fileNamed(files: IBinaryKeyData, given: string): IBinaryData | undefined {
	const own = Object.hasOwn(files, given);
	const name = own ? given : given.replace(`${MOVED_TO}.`, '');
	return Object.hasOwn(files, name) ? files[name] : undefined;
}
