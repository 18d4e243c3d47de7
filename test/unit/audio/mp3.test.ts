/** MP3 files as they come: their frames counted, and everything else left out. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { soundFactsOf } from '../../../nodes/MediaGeneration/audio/scan';
import type { Mp3Facts } from '../../../nodes/MediaGeneration/audio/sound';
import { id3v1, id3v2 } from '../../service/media/id3';
import { encodeMp3, loadMp3Encoder, toneMp3 } from '../../service/media/mp3';
import { toneSamples } from '../../service/media/tone';
import { decodeMp3 } from './listen';

const fixture = (name: string) => readFileSync(join(__dirname, 'files', name));
const zeros = (count: number) => Buffer.alloc(count);

/** Frames of 128 kbit/s and 44,100 Hz, mono, without anything around them. */
let frames: Buffer = zeros(0);
/** How many. */
let count = 0;

beforeAll(async () => {
	await loadMp3Encoder();
	frames = toneMp3('A tone', { header: false });
	count = Math.round((frames.length * 44_100) / (144 * 128_000));
});

async function factsOf(file: Buffer): Promise<Mp3Facts> {
	const facts = await soundFactsOf([file]);
	if (facts.kind !== 'mp3') throw new Error(facts.kind === 'none' ? facts.problem : facts.kind);
	return facts;
}

async function problemOf(file: Buffer): Promise<string | undefined> {
	const facts = await soundFactsOf([file]);
	return facts.kind === 'none' ? facts.problem : undefined;
}

/** The bytes that joining would take of a file. */
function soundOf(file: Buffer, { ranges }: Mp3Facts): Buffer {
	return Buffer.concat(ranges.map(([from, to]) => file.subarray(from, to)));
}

describe('frames are counted as a decoder counts them', () => {
	const rates = [8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000] as const;
	const kinds = rates.flatMap((sampleRate) =>
		[false, true].flatMap((variable) =>
			[1, 2].map((channels) => ({ sampleRate, variable, channels })),
		),
	);

	test.each(kinds)('%j', async ({ sampleRate, variable, channels }) => {
		const tone = Float32Array.from(toneSamples('Tone', sampleRate), (sample) => sample / 32_768);
		const sound = Array.from({ length: channels }, () => tone);
		const file = encodeMp3(sound, { sampleRate, variable, bitrate: 64, title: 'Tone' });
		const facts = await factsOf(file);
		const heard = await decodeMp3(file);
		expect(heard.errors).toEqual([]);
		expect(facts.seconds * sampleRate).toBeCloseTo(heard.samples.length, 6);
		expect(facts.format).toMatchObject({ sampleRate, channels });
		expect(facts.bitrateIndex === undefined).toBe(variable);
		expect(facts.bytes).toBe(soundOf(file, facts).length);
	});

	test.each(['lame-cbr-checksums', 'lame-vbr', 'lame-abr-mpeg25'])(
		'%s: the header frame is not sound',
		async (name) => {
			const file = fixture(`${name}.mp3`);
			const facts = await factsOf(file);
			const stated = file.readUInt32BE(file.toString('latin1').search(/(Xing|Info)\0\0\0\x0f/) + 8);
			expect(facts.units).toBe(stated);
			expect(facts.ranges).toHaveLength(1);
		},
	);
});

describe('what is not sound is left out', () => {
	/** An item of an APEv2 tag with what could be a frame, and the footer. */
	const ape = () => {
		const item = Buffer.from('\x04\0\0\0\0\0\0\0Title\0\xff\xfb\x90\x64', 'latin1');
		const footer = Buffer.concat([Buffer.from('APETAGEX'), zeros(24)]);
		return Buffer.concat([item, footer]);
	};
	const vbri = () => {
		const frame = Buffer.alloc(417);
		frame.writeUInt32BE(0xfffb90c4);
		frame.write('VBRI', 36);
		frame.writeUInt32BE(count, 36 + 14);
		return frame;
	};
	const info = () => toneMp3('A tone').subarray(0, 417);

	test.each<[string, () => [before: Buffer, after: Buffer]]>([
		['ID3v2', () => [id3v2('Title'), zeros(0)]],
		['ID3v2 with a sound of its own', () => [id3v2(frames.toString('latin1')), zeros(0)]],
		['APEv2 and ID3v1', () => [zeros(0), Buffer.concat([ape(), id3v1('T')])]],
		['ID3v2 after', () => [zeros(0), id3v2('Title')]],
		['Info', () => [info(), zeros(0)]],
		['VBRI', () => [vbri(), zeros(0)]],
		['ID3v2 and Info', () => [Buffer.concat([id3v2('Title'), info()]), id3v1('Title')]],
		['zeros', () => [zeros(0), zeros(300_000)]],
		['a byte or two', () => [zeros(0), Buffer.from([0xff, 0xfb])]],
		['a frame that is not whole', () => [zeros(0), frames.subarray(0, 400)]],
	])('%s', async (_, around) => {
		const [before, after] = around();
		const file = Buffer.concat([before, frames, after]);
		const facts = await factsOf(file);
		expect(facts.units).toBe(count);
		expect(soundOf(file, facts)).toEqual(frames);
		expect(facts.bytes).toBe(frames.length);
		expect(facts.bitrateIndex).toBe(9);
	});

	test('a file in too many pieces is refused', async () => {
		const piece = Buffer.concat([frames.subarray(0, 417 + 418), zeros(10)]);
		const pieces = (length: number) => Buffer.concat(Array.from({ length }, () => piece));
		const most = Buffer.concat([pieces(999), frames]);
		expect((await factsOf(most)).ranges).toHaveLength(1000);
		for (const length of [1001, 1500])
			expect(await problemOf(pieces(length))).toBe('has its sound in more than 1,000 pieces');
	});
});

describe('what is broken', () => {
	/** Where the third frame begins. */
	const third = () => 417 + 418;
	const broken = (at: number, bytes: number[]) => {
		const file = Buffer.from(frames);
		Buffer.from(bytes).copy(file, at);
		return file;
	};

	test.each<[string, number[]]>([
		['what is no header', [0x12, 0x34]],
		['free format', [0xff, 0xfb, 0x00]],
		['another layer', [0xff, 0xfd]],
		['no version', [0xff, 0xeb]],
		['no sample rate', [0xff, 0xfb, 0x9c]],
		['no bit rate', [0xff, 0xfb, 0xf0]],
		['another sample rate', [0xff, 0xfb, 0x94]],
		['stereo', [0xff, 0xfb, 0x90, 0x44]],
	])('a frame with %s is left out, as players do', async (_, bytes) => {
		const facts = await factsOf(broken(third(), bytes));
		expect(facts.units).toBe(count - 1);
		expect(facts.ranges).toEqual([
			[0, third()],
			[third() + 418, frames.length],
		]);
	});

	test.each<[string, () => Buffer, string]>([
		[
			'two formats',
			() => Buffer.concat([frames, toneMp3('A tone', { sampleRate: 48000 })]),
			'has frames of more than one format',
		],
		['a tag alone', () => id3v2('Title'), 'contains no sound'],
		['zeros', () => zeros(100), 'is no sound of a known kind; only MP3 and WAV can be joined'],
	])('%s', async (_, file, problem) => {
		expect(await problemOf(file())).toBe(problem);
	});
});
