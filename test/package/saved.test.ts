/** Workflows as earlier versions wrote them (test/n8n/saved): what they have to hold, so that a suite that runs them proves something. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../scripts/pack';
import { readWorkflow, type WorkflowNode } from '../n8n/harness/workflow';

const folder = join(root, 'test', 'n8n', 'saved', '0.1');
const nodes = readdirSync(folder).flatMap(
	(file) => readWorkflow(join(folder, file), { placeholders: { PATH: 'somewhere' } }).nodes,
);
const actions = nodes.filter(({ type }) => type.endsWith('.mediaGeneration'));
const triggers = nodes.filter(({ type }) => type.endsWith('.mediaGenerationTrigger'));

const fieldsOf = (some: WorkflowNode[]) =>
	[...new Set(some.flatMap(({ parameters }) => Object.keys(parameters)))].sort();
const optionsOf = (some: WorkflowNode[]) =>
	[...new Set(some.flatMap(({ parameters }) => Object.keys(parameters.options ?? {})))].sort();

describe('workflows saved by 0.1', () => {
	it('hold every operation, the default ones also as n8n saves defaults: left out', () => {
		const chosen = actions.map(
			({ parameters: { resource, operation } }) => `${String(resource)} ${String(operation)}`,
		);
		expect([...new Set(chosen)].sort()).toEqual(
			[
				'apiKey getAll',
				'credits get',
				'image generate',
				'image undefined',
				'soundEffect generate',
				'soundEffect undefined',
				'speech generateByVoiceId',
				'speech generateByVoiceName',
				'task get',
				'task undefined',
				'task wait',
				'undefined undefined',
			].sort(),
		);
	});

	it('hold every field and every option of the action node', () => {
		const contents = 'prompt taskId text voice voiceId withTranscript outputFormat modelId';
		const image = 'aspectRatio generationsCount resolution';
		const rest =
			'resource operation options waitForCompletion waitMode callbackUrl downloadOutput binaryPropertyName';
		expect(fieldsOf(actions)).toEqual(`${contents} ${image} ${rest}`.split(' ').sort());
		expect(optionsOf(actions)).toEqual(
			'callbackReference extraFields gracePeriod maxActiveTasks maxFileSize minimumCredits onTimeout pollRoute splitFiles timeout'.split(
				' ',
			),
		);
	});

	it('hold voices and models as plain strings', () => {
		const chosen = actions.flatMap(({ parameters }) =>
			['voiceId', 'modelId', 'voice'].flatMap((field) => parameters[field] ?? []),
		);
		expect(chosen.length).toBeGreaterThan(5);
		expect(chosen.filter((value) => typeof value !== 'string')).toEqual([]);
	});

	it('hold both versions of the trigger and every field of it', () => {
		expect([...new Set(triggers.map(({ typeVersion }) => typeVersion))].sort()).toEqual([1, 1.1]);
		expect(fieldsOf(triggers)).toEqual(
			'binaryPropertyName downloadOutput options statuses verifyWithService'.split(' '),
		);
		expect(optionsOf(triggers)).toEqual('deduplicate maxFileSize types'.split(' '));
	});
});
