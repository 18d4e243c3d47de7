/** What becomes of a task's files: the fields, and how they are read. */
import type { INodeProperties } from 'n8n-workflow';
import { trimmedText } from '../base/json';
import type { ItemFields } from './fields';
import * as ui from './ui';

export interface FileSettings {
	download: boolean;
	outputBinaryField: string;
	maxFileBytes: number;
	/** Without its extension. */
	fileName?: string | undefined;
	/** Output format that the request asks for. */
	format?: string | undefined;
	splitFiles: boolean;
	transcriptInOutput: boolean;
}

export const downloadField = ui.toggle('Download Output', 'downloadOutput', {
	default: true,
	description:
		'Whether to put the files of the finished task into binary data. Their addresses are in the output either way.',
});
const DOWNLOADING = { downloadOutput: [true] };

export const filesField = ui.text('Put Output Files in Field', 'outputBinaryField', {
	required: true,
	default: 'data',
	description:
		'Name of the output field for the first file. Give each node a name of its own if a Merge node combines their items by position: files in fields of the same name replace each other.',
	hint: 'The first file gets this name, the next ones get _1, _2, ... appended',
	displayOptions: { show: DOWNLOADING },
});

const fileNameOption = ui.text('File Name', 'fileName', {
	placeholder: 'e.g. chapter-1',
	description:
		'Name of the files, without their extension. Usually an expression: {{ $json.title }}. Files of different types share it; further files of the same type get a number appended. Characters that file systems refuse are replaced. Leave empty to name files after type and task.',
});

export const maxFileSizeOption = ui.amount('Max File Size (MB)', 'maxFileSize', {
	typeOptions: { minValue: 0.001 },
	default: 500,
	description:
		'Larger files are not downloaded: the item fails, and its outputs keep the addresses',
});

const splitFilesOption = ui.toggle('Split Files', 'splitFiles', {
	default: true,
	description:
		'Whether to output one item per file instead of one item per task, e.g. one for each image',
	displayOptions: { hide: { waitMode: ['callback'] } },
});

export const transcriptOption = ui.toggle('Transcript in Output', 'transcriptInOutput', {
	default: true,
	description:
		'Whether to add the captions to the JSON as a list of text, start and end in seconds',
	displayOptions: {
		show: DOWNLOADING,
		hide: { waitForCompletion: [false] },
	},
});

export const fileOptions: INodeProperties[] = [
	...ui.shownWhen(DOWNLOADING, [fileNameOption, maxFileSizeOption]),
	splitFilesOption,
];

export const readMaxFileBytes = (fields: ItemFields) =>
	fields.number(maxFileSizeOption) * 1_000_000;

export function readFileSettings(fields: ItemFields): FileSettings {
	return {
		download: fields.boolean(downloadField),
		outputBinaryField: fields.text(filesField) ?? 'data',
		maxFileBytes: readMaxFileBytes(fields),
		fileName: fields.text(fileNameOption),
		format: trimmedText(fields.raw('outputFormat')),
		splitFiles: fields.boolean(splitFilesOption, false),
		transcriptInOutput: fields.boolean(transcriptOption, false),
	};
}
