/** What the fields of the trigger are read as: what can't be used falls back to the default, so that no callback is lost (docs/trigger.md). */
import type { IWebhookFunctions } from 'n8n-workflow';
import {
	readTriggerFileSettings,
	readTriggerSettings,
} from '../../nodes/MediaGeneration/actions/trigger';
import { ItemFields } from '../../nodes/MediaGeneration/actions/fields';
import { fakeN8n } from '../support/n8n';
import { fieldsWith } from './itemFields';

type Fields = Record<string, unknown>;

const PLAIN = { statuses: ['done', 'error'], verify: true, types: [], deduplicate: true };
const FILES = {
	download: true,
	outputBinaryField: 'data',
	maxFileBytes: 500_000_000,
	splitFiles: false,
	transcriptInOutput: false,
};

test.each<[Fields, object]>([
	[{}, {}],
	[{ statuses: ['error'] }, { statuses: ['error'] }],
	[{ statuses: 'done' }, {}],
	[{ verifyWithService: false }, { verify: false }],
	[{ verifyWithService: 'false' }, {}],
	[{ options: { types: ' Image, ,sound_effect,' } }, { types: ['image', 'sound_effect'] }],
	[{ options: { deduplicate: false } }, { deduplicate: false }],
	[{ options: 'none' }, {}],
])('%j decides when the workflow runs', (fields, expected) => {
	const { context } = fakeN8n<IWebhookFunctions>({ parameters: fields });
	expect(readTriggerSettings(context)).toEqual({ ...PLAIN, ...expected });
});

test('an expression that fails counts as none: n8n would start the workflow with an empty item', () => {
	const getNodeParameter = () => {
		throw new Error('access to env vars denied');
	};
	const { context } = fakeN8n<IWebhookFunctions>({ own: { getNodeParameter } });
	expect(readTriggerSettings(context)).toEqual(PLAIN);
	// Nor may the execution fail then, which the same event does not start again.
	const fields = new ItemFields(fakeN8n({ own: { getNodeParameter } }).context, 0);
	expect(readTriggerFileSettings(fields)).toEqual(FILES);
});

test.each<[Fields, object]>([
	[{}, {}],
	[{ downloadOutput: false }, { download: false }],
	[{ outputBinaryField: ' sound ' }, { outputBinaryField: 'sound' }],
	[{ outputBinaryField: ' ' }, {}],
	[{ options: { fileName: ' {reference} ' } }, { fileName: '{reference}' }],
	[{ options: { maxFileSize: '0.5' } }, { maxFileBytes: 500_000 }],
	[{ options: { maxFileSize: 'much' } }, {}],
])('%j decides how files are delivered', (fields, expected) => {
	expect(readTriggerFileSettings(fieldsWith(fields))).toEqual({ ...FILES, ...expected });
});
