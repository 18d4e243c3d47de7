/** MP3 files as they come: their frames counted, everything else left out, what is broken refused in words. */
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
	const syncsafe = (size: number) => Buffer.from([21, 14, 7, 0].map((by) => (size >> by) & 0x7f));
	const id3v2WithFooter = () => {
		const head = Buffer.concat([Buffer.from('ID3\x04\0\x10'), syncsafe(300)]);
		return Buffer.concat([head, zeros(300), head]);
	};
	/** An item, and before and after it what APEv2 puts there. */
	const ape = ({ header, footer }: { header: boolean; footer: boolean }) => {
		const item = Buffer.concat([
			Buffer.from([4, 0, 0, 0, 0, 0, 0, 0]),
			Buffer.from('Title\0\xff\xfbab'),
		]);
		const part = (flags: number) => {
			const bytes = Buffer.alloc(32);
			bytes.write('APETAGEX');
			bytes.writeUInt32LE(2000, 8);
			bytes.writeUInt32LE(item.length + (footer ? 32 : 0), 12);
			bytes.writeUInt32LE(1, 16);
			bytes.writeUInt32LE(flags >>> 0, 20);
			return bytes;
		};
		return Buffer.concat([
			...(header ? [part(0xa0000000)] : []),
			item,
			...(footer ? [part(header ? 0x80000000 : 0)] : []),
		]);
	};
	const extended = () =>
		Buffer.concat([Buffer.from('TAG+'), Buffer.alloc(223, 'x'), id3v1('Title')]);
	const vbri = () => {
		const frame = Buffer.alloc(417);
		frame.writeUInt32BE(0xfffb90c4);
		frame.write('VBRI', 36);
		frame.writeUInt32BE(count, 36 + 14);
		return frame;
	};
	/** A checksum after the header moves the mark, as some encoders write it. */
	const infoAfterChecksum = () => {
		const frame = Buffer.alloc(417);
		frame.writeUInt32BE(0xfffa90c4);
		frame.write('Info', 4 + 2 + 17);
		return frame;
	};
	const apeV1 = () => ape({ header: false, footer: true });
	const info = () => toneMp3('A tone').subarray(0, 417);

	test.each<[string, () => [before: Buffer, after: Buffer]]>([
		['nothing', () => [zeros(0), zeros(0)]],
		['ID3v2', () => [id3v2('Title'), zeros(0)]],
		['ID3v2 with a footer', () => [id3v2WithFooter(), zeros(0)]],
		['ID3v1', () => [zeros(0), id3v1('Title')]],
		['ID3v1, extended', () => [zeros(0), extended()]],
		['APEv2 before', () => [ape({ header: true, footer: true }), zeros(0)]],
		['APEv2 after', () => [zeros(0), ape({ header: true, footer: true })]],
		['APEv1', () => [zeros(0), apeV1()]],
		['APEv1 and ID3v1', () => [zeros(0), Buffer.concat([apeV1(), id3v1('T')])]],
		['ID3v2 after', () => [zeros(0), id3v2WithFooter()]],
		['Info', () => [info(), zeros(0)]],
		['Info behind', () => [zeros(0), info()]],
		['Info after a checksum', () => [infoAfterChecksum(), zeros(0)]],
		['VBRI', () => [vbri(), zeros(0)]],
		['ID3v2 and Info', () => [Buffer.concat([id3v2('Title'), info()]), id3v1('Title')]],
		['zeros', () => [zeros(1000), zeros(3000)]],
		['a byte or two', () => [zeros(0), Buffer.from([0xff, 0xfb])]],
		['a frame that is not whole', () => [zeros(0), frames.subarray(0, 400)]],
		['less than a header', () => [zeros(0), Buffer.from('abc')]],
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
		const piece = Buffer.concat([frames.subarray(0, 417), zeros(10)]);
		const pieces = (length: number) => Buffer.concat(Array.from({ length }, () => piece));
		const most = Buffer.concat([pieces(999), frames]);
		expect((await factsOf(most)).ranges).toHaveLength(1000);
		for (const length of [1001, 1500])
			expect(await problemOf(pieces(length))).toBe('its sound lies in more than 1,000 pieces');
	});
});

describe('what is broken is refused, and where', () => {
	const broken = (at: number, bytes: number[]) => {
		const file = Buffer.from(frames);
		Buffer.from(bytes).copy(file, at);
		return file;
	};
	/** Where the third frame begins. */
	const third = () => 417 + 418;

	const NO_FRAME = /^what lies at byte [\d,]+ is not the beginning of an MP3 frame$/;
	const OTHER_FORMAT = 'is a frame of another format than those before it';
	const behind = (bytes: Buffer | string) => Buffer.concat([frames, Buffer.from(bytes as string)]);
	const likeAnApeTag = () => {
		const footer = Buffer.alloc(32, 'x');
		footer.writeUInt32LE(32, 12);
		return footer;
	};

	test.each<[string, () => Buffer, string | RegExp]>([
		['a frame', () => broken(third(), [0x12, 0x34]), 'what lies at byte 835 is not the beginning'],
		[
			'a missing byte',
			() => Buffer.concat([frames.subarray(0, 500), frames.subarray(501)]),
			NO_FRAME,
		],
		['text after the sound', () => behind('and more'), NO_FRAME],
		['what states its size as an APE tag does', () => behind(likeAnApeTag()), NO_FRAME],
		['free format', () => broken(third() + 2, [0x00]), 'byte 835 is a frame in free format'],
		['another layer', () => broken(third() + 1, [0xfd]), 'is MPEG audio, but not Layer III'],
		['no version', () => broken(third() + 1, [0xeb]), NO_FRAME],
		['no sample rate', () => broken(third() + 2, [0x9c]), NO_FRAME],
		['a bit rate', () => broken(third() + 2, [0xf0]), 'byte 835 is not the beginning of'],
		['another sample rate', () => behind(toneMp3('A tone', { sampleRate: 48000 })), OTHER_FORMAT],
		['stereo frames', () => broken(third() + 3, [0x44]), `what lies at byte 835 ${OTHER_FORMAT}`],
	])('%s', async (_, file, problem) => {
		const said = await problemOf(file());
		if (typeof problem === 'string') expect(said).toContain(problem);
		else expect(said).toMatch(problem);
	});

	test.each([
		['zeros', '\0'.repeat(100), 'it holds no sound'],
		['a WAV header', 'RIFF\n\n\n\nWAVE'.padEnd(99, '\0'), 'it is a WAV file without samples'],
	])('%s', async (_, text, problem) => {
		expect(await problemOf(Buffer.from(text, 'latin1'))).toBe(problem);
	});
});

const tags = (count: number) => Array<Buffer>(count).fill(Buffer.from('ID3\x04\0\0\0\0\0\0'));
test.each<[string, number, Buffer[], boolean]>([
	['zeros', 40_000, [Buffer.alloc(65_472)], true],
	['more zeros', 40_000, [Buffer.alloc(65_537)], false],
	['zeros that come byte by byte', 1, [Buffer.alloc(65_537)], false],
	['empty tags', 40_000, tags(1_023), true],
	['more of them', 40_000, tags(1_025), false],
])('what holds no sound is passed over for 64 kB: %s', async (_, size, between, isJoinable) => {
	const sound = toneMp3('Some words');
	const file = Buffer.concat([sound, ...between, sound]);
	const chunks = Array.from({ length: Math.ceil(file.length / size) }, (_each, index) =>
		file.subarray(index * size, (index + 1) * size),
	);
	const facts = await soundFactsOf(chunks);
	if (isJoinable) expect(facts.kind).toBe('mp3');
	else expect(facts).toMatchObject({ problem: 'it holds no sound for too long' });
});
