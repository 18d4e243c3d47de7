/** What a person in the editor is told of a run: hints, names of files, and what became of the other items. */
import { good, idOf, long, refused, runNode, sound, sounds, speech } from './node';

test.each([
	[['', 'b', 'c'], [], / 2 other items got no task\.$/],
	[['', 'b'], [], / 1 other item got no task\.$/],
	[['a'], [refused], /No task was created and nothing was paid\.$/],
	[['a', 'b'], [refused, good], / 1 other item has a paid task\./],
	[['a', 'b'], [refused, refused], / 1 other item failed, too\./],
	[
		['a', 'b', 'c', 'd'],
		[refused, good, good, refused],
		/ 2 other items have paid tasks\. 1 other item failed, too\. Paid tasks of this run/,
	],
])('a run that fails says what became of the other items: %j', async (texts, creations, words) => {
	const { error } = await runNode({ parameters: sounds(...texts), creations });
	expect(error?.description).toMatch(words);
});

test('failed items of an error branch are looked for at the branch', async () => {
	const node = { onError: 'continueErrorOutput' } as const;
	const { hints } = await runNode({ parameters: sounds('', 'b'), node });
	expect(hints[0]).toBe('1 of 2 items failed and went to the error branch');
});

test('a refusal names a field of the request as the editor shows it', async () => {
	const { error } = await runNode({
		parameters: { resource: 'image', operation: 'generate', prompt: 'A', generationsCount: 1 },
		answer: ({ method }) =>
			method === 'POST' ? { status: 400, body: { error: 'model_id is required' } } : undefined,
	});
	expect(error?.message).toMatch(/model_id is required/);
	expect(error?.description).toMatch(/"model_id" is the field "Model" of this node\.$/);
});

test('a text of more than 5,000 characters that is not split is hinted at', async () => {
	const text = 'word '.repeat(1_001);
	const hint = '1 text is longer than 5000 characters: "Long Text" splits and joins such texts';
	const off = await runNode({ parameters: { ...speech, text } });
	expect(off.hints).toContain(hint);
	const split = await runNode({ parameters: { ...long('join'), text } });
	expect(split.hints.join()).not.toMatch(/longer than/);
	const effect = await runNode({ parameters: { ...sound, text } });
	expect(effect.hints.join()).not.toMatch(/longer than/);
});

describe('File Name', () => {
	const named = (fields: object, fileName: string) => ({ ...fields, options: { fileName } });
	const namesOf = ({ json }: Awaited<ReturnType<typeof runNode>>) =>
		json.map(({ outputs }) =>
			(outputs as Array<{ fileName: string }>).map(({ fileName }) => fileName),
		);

	test('each item names its own files', async () => {
		const parameters = [named(sound, 'rain'), named(sound, 'a/b: c'), sound];
		expect(namesOf(await runNode({ parameters }))).toEqual([
			['rain.wav', 'rain.srt'],
			['a_b_ c.wav', 'a_b_ c.srt'],
			[`speech-${idOf(2)}.wav`, `speech-${idOf(2)}.srt`],
		]);
	});

	test('equal names within a run are hinted at, whatever their case', async () => {
		const hintsOf = async (...names: string[]) => {
			const parameters = names.map((name) => named(sound, name));
			return (await runNode({ parameters })).hints.filter((hint) => /named/.test(hint));
		};
		expect(await hintsOf('Rain', 'rain.mp3', 'snow')).toEqual([
			'2 files are named "rain.wav": put something unique to each item into File Name',
		]);
		expect(await hintsOf('rain', 'rains')).toEqual([]);
		expect(await hintsOf('', '')).toEqual([]);
	});

	test('sound of another format than the one that was asked for is hinted at, once', async () => {
		const hintsOf = async (...formats: string[]) => {
			const parameters = formats.map((outputFormat) => ({ ...speech, outputFormat }));
			return (await runNode({ parameters })).hints.filter((hint) => /Format/.test(hint));
		};
		expect(await hintsOf('mp3_44100_128', 'mp3_22050_32', 'wav_44100')).toEqual([
			'The service sent audio/wav instead of the Output Format "mp3_44100_128"',
		]);
		expect(await hintsOf('wav', '', 'best')).toEqual([]);
	});

	test('the parts of a long text differ, and the joined file has the name as it is', async () => {
		const text = long('parts');
		const options = { maxCharacters: 60, fileName: 'lamp' };
		const parts = namesOf(await runNode({ parameters: { ...text, options } }));
		expect(parts.map(([first]) => first)).toEqual(['lamp-1.wav', 'lamp-2.wav']);
		const joined = namesOf(await runNode({ parameters: { ...long('join'), options } }));
		expect(joined[0]?.[0]).toBe('lamp.wav');
	});
});

test('the hint of the costs is there before the execution sleeps', async () => {
	const parameters = { ...sound, waitMode: 'callback', options: { gracePeriod: 0 } };
	const { hints } = await runNode({ parameters, tasks: [] });
	expect(hints).toContain('1 task created, 10 credits according to the service');
});
