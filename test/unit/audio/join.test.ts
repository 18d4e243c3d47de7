/** Joining: what comes out must play everywhere, and each part must be where it is said to be. */
import { WaveFile } from 'wavefile';

import { type Joinable, joinedChunks, planJoin } from '../../../nodes/MediaGeneration/audio/join';
import { soundFactsOf } from '../../../nodes/MediaGeneration/audio/scan';
import type { SoundFacts } from '../../../nodes/MediaGeneration/audio/sound';
import { encodeMp3, loadMp3Encoder, type Mp3Options, toneMp3 } from '../../service/media/mp3';
import { toneHz, toneSeconds, toneWav } from '../../service/media/tone';
import { decodeMp3, toneAt } from './listen';

const TEXTS = ['Once upon a time', 'there was a lighthouse.', 'Nobody had ever seen its light.'];

/** As a file comes from a store: in chunks that know nothing of frames. */
function* chunked(file: Buffer, size = 1000) {
	for (let at = 0; at < file.length; at += size) yield file.subarray(at, at + size);
}

async function* stream(file: Buffer, size?: number): AsyncGenerator<Buffer> {
	for (const chunk of chunked(file, size)) yield await Promise.resolve(chunk);
}

async function plan(files: Buffer[], pauseMs = 0): Promise<Joinable | string> {
	const facts = await Promise.all(files.map(async (file) => await soundFactsOf(stream(file))));
	return planJoin(facts, { pauseMs });
}

async function collected(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
	const all: Buffer[] = [];
	for await (const chunk of chunks) all.push(chunk);
	return Buffer.concat(all);
}

async function join_(files: Buffer[], pauseMs = 0): Promise<{ plan: Joinable; file: Buffer }> {
	const made = await plan(files, pauseMs);
	if (typeof made === 'string') throw new Error(made);
	const file = await collected(
		joinedChunks(made, (index) => stream(files[index] ?? Buffer.alloc(0))),
	);
	expect(file.length).toBe(made.bytes);
	return { plan: made, file };
}

beforeAll(loadMp3Encoder);

describe('MP3', () => {
	test.each<[string, Mp3Options]>([
		['constant bit rate, with tags', { title: 'Part' }],
		['variable bit rate, without a header frame', { variable: true, header: false }],
		['48,000 Hz', { sampleRate: 48000 }],
		['MPEG-2, variable', { sampleRate: 24000, variable: true, title: 'x' }],
		['MPEG-2.5', { sampleRate: 8000, bitrate: 32 }],
	])('%s: decodes without a complaint, and each part is where it should be', async (_, options) => {
		const files = TEXTS.map((text) => toneMp3(text, options));
		const { plan: made, file } = await join_(files, 400);
		const heard = await decodeMp3(file);
		expect(heard.errors).toEqual([]);
		expect(heard.sampleRate).toBe(options.sampleRate ?? 44100);
		// The decoder leaves out the header frame, as players do.
		expect(heard.samples.length / heard.sampleRate).toBeCloseTo(made.durationSeconds, 9);
		for (const [index, text] of TEXTS.entries()) {
			const { start = NaN, end = NaN } = made.parts[index] ?? {};
			// An encoder delays the sound by up to 0.15 s at the lowest rates.
			expect(toneAt(heard, start + 0.15)).toBe(toneHz(text));
			expect(end - start).toBeGreaterThanOrEqual(toneSeconds(text));
			expect(end - start).toBeLessThan(toneSeconds(text) + 0.25);
			if (index > 0) expect(toneAt(heard, start - 0.21)).toBeUndefined();
		}
		expect(made.parts[0]?.start).toBe(0);
		expect(made.parts.at(-1)?.end).toBe(made.durationSeconds);
		expect(made.kind).toBe('mp3');
	});

	test('a pause is the nearest number of frames, and at least one', async () => {
		const file = toneMp3('tone');
		const pauseOf = async (pauseMs: number) => {
			const made = await plan([file, file], pauseMs);
			const [first, second] = typeof made === 'string' ? [] : made.parts;
			return Math.round((((second?.start ?? NaN) - (first?.end ?? NaN)) * 44100) / 1152);
		};
		expect(await pauseOf(0)).toBe(0);
		expect(await pauseOf(1)).toBe(1);
		expect(await pauseOf(500)).toBe(19);
		expect(await pauseOf(60_000)).toBe(2297);
	});

	test.each([
		['Info', [128, 128, 128]],
		['Xing', [192, 32, 192]],
	] as const)('the header frame %s says what is there', async (mark, bitrates) => {
		const files = bitrates.map((bitrate, index) =>
			toneMp3(TEXTS[index] ?? '', { header: false, bitrate }),
		);
		const { plan: made, file } = await join_(files, 100);
		const at = 4 + 17;
		expect(file.toString('latin1', at, at + 4)).toBe(mark);
		expect(file.readUInt32BE(at + 4)).toBe(3);
		expect(file.readUInt32BE(at + 8)).toBe(Math.round((made.durationSeconds * 44100) / 1152));
		expect(file.readUInt32BE(at + 12)).toBe(file.length);
		// Behind that the frame is empty.
		const behind = made.head.subarray(at + 16);
		expect(behind).toEqual(Buffer.alloc(behind.length));
	});
});

describe('WAV', () => {
	const wavOf = (samples: number[], bitDepth = '16'): Buffer => {
		const wave = new WaveFile();
		wave.fromScratch(1, 8000, bitDepth, samples);
		return Buffer.from(wave.toBuffer());
	};
	const samplesOf = (file: Buffer) => [...new WaveFile(file).getSamples(true)];

	test.each<[string, number[], number[]]>([
		['8', [1, 128, 255, 4], [7, 9]],
		['16', [1, -2, 32767], [-32768, 5]],
		['24', [1, -2, 8388607], [-8388608, 5]],
		['32', [1, -2, 2147483647], [-2147483648, 5]],
		['32f', [0.5, -0.25, 1], [-1, 0.125]],
		['64', [0.1, -0.2], [0.3]],
	])('%s bits: every sample is there, with silence between', async (bitDepth, one, other) => {
		const { plan: made, file } = await join_([wavOf(one, bitDepth), wavOf(other, bitDepth)], 0.25);
		const silence = bitDepth === '8' ? 128 : 0;
		expect(samplesOf(file)).toEqual([...one, silence, silence, ...other]);
		expect(made.parts).toEqual([
			{ start: 0, end: one.length / 8000 },
			{ start: (one.length + 2) / 8000, end: (one.length + 2 + other.length) / 8000 },
		]);
	});

	test.each(['8', '16', '24', '32f'])(
		'mono is made stereo where both are there: %s bits, in chunks of any size',
		async (bitDepth) => {
			const stereo = new WaveFile();
			stereo.fromScratch(2, 8000, bitDepth, [
				[1, 0],
				[0, 1],
			]);
			const files = [wavOf([1, 0, 1], bitDepth), Buffer.from(stereo.toBuffer())];
			const { plan: made, file } = await join_(files, 0);
			const joined = new WaveFile(file);
			expect(
				[...joined.getSamples(false)].map((channel) =>
					Array.from(channel as unknown as ArrayLike<number>),
				),
			).toEqual([
				[1, 0, 1, 1, 0],
				[1, 0, 1, 0, 1],
			]);
			expect([made.bytes, made.durationSeconds]).toEqual([file.length, 5 / 8000]);
		},
	);

	test.each([
		['beyond 4 GiB', undefined, '4,294,967,295'],
		['beyond the limit', 1e9, '1,000,000,000'],
	])('%s there is no file', async (_name, maxBytes, limit) => {
		const facts = await soundFactsOf(stream(wavOf([1, 2, 3])));
		const bytes = 2 ** 32;
		const large = { ...facts, bytes, units: bytes / 2, ranges: [[44, 44 + bytes]] } as SoundFacts;
		const made = planJoin([large, large], { pauseMs: 0, ...(maxBytes && { maxBytes }) });
		expect(made).toMatch(
			`would have 8,589,934,636 bytes, and at most ${limit} are allowed ('Max File Size'`,
		);
	});
});

const mono = () => toneMp3('One');

const six = () => {
	const made = new WaveFile();
	made.fromScratch(6, 16000, '24', Array(6).fill([1, 2]) as number[][]);
	return Buffer.from(made.toBuffer());
};
const stereo = () => encodeMp3([new Float32Array(5000), new Float32Array(5000)]);
const older = () => toneMp3('Two', { sampleRate: 16000, bitrate: 32 });
const MONO = 'part 1 is MP3 (MPEG-1, 44,100 Hz, mono)';
test.each<[string, () => Buffer[], string]>([
	['nothing', () => [], 'there is no sound'],
	['an empty file', () => [mono(), Buffer.alloc(0)], 'part 2 is empty'],
	[
		'another MPEG version',
		() => [mono(), older()],
		`part 2 is MP3 (MPEG-2, 16,000 Hz, mono), but ${MONO}`,
	],
	['stereo', () => [mono(), stereo()], `part 2 is MP3 (MPEG-1, 44,100 Hz, stereo), but ${MONO}`],
	[
		'another kind',
		() => [mono(), toneWav('Two')],
		`part 2 is WAV (16-bit PCM, 16,000 Hz, mono), but ${MONO}`,
	],
	[
		'other samples',
		() => [toneWav('One'), six()],
		'part 2 is WAV (24-bit PCM, 16,000 Hz, 6 channels), but part 1 is WAV (16-bit PCM, 16,000 Hz, mono)',
	],
])('what can not be joined: %s', async (_, files, reason) => {
	expect(await plan(files())).toBe(reason);
});

describe('streams', () => {
	test('a part that changed between the passes fails', async () => {
		const files = [toneMp3('One'), toneMp3('Two')];
		const made = await plan(files);
		if (typeof made === 'string') throw new Error(made);
		const short = (index: number) => stream((files[index] as Buffer).subarray(0, 3000));
		await expect(collected(joinedChunks(made, short))).rejects.toThrow(
			new Error('A file became shorter while it was being joined.'),
		);
	});

	test('parts are opened one after the other, and closed, also in the middle', async () => {
		const events: string[] = [];
		const files = [toneWav('One'), toneWav('Two')];
		const made = await plan(files, 100);
		if (typeof made === 'string') throw new Error(made);
		const open = async function* (index: number) {
			events.push(`open ${index}`);
			try {
				yield* stream(files[index] as Buffer, 4000);
				yield Buffer.alloc(50_000);
			} finally {
				events.push(`closed ${index}`);
			}
		};
		const chunks = joinedChunks(made, open);
		for (let read = 0; read < 3; read += 1) await chunks.next();
		expect(events).toEqual(['open 0']);
		await chunks.return(undefined);
		expect(events).toEqual(['open 0', 'closed 0']);
		expect((await collected(joinedChunks(made, open))).length).toBe(made.bytes);
		expect(events.slice(2)).toEqual(['open 0', 'closed 0', 'open 1', 'closed 1']);
	});
});
