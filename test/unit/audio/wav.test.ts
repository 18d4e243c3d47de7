/** WAV files as programs write them, and as they should not. */
import { planJoin } from '../../../nodes/MediaGeneration/audio/join';
import { soundFactsOf } from '../../../nodes/MediaGeneration/audio/scan';

interface Shape {
	before?: Buffer[];
	format?: Buffer;
	dataSize?: number;
	data?: Buffer;
	after?: Buffer[];
}

function chunk(id: string, content: Buffer, { size = content.length } = {}): Buffer {
	const head = Buffer.alloc(8);
	head.write(id);
	head.writeUInt32LE(size, 4);
	const padding = content.length % 2 === 1 ? [Buffer.alloc(1)] : [];
	return Buffer.concat([head, content, ...padding]);
}

interface PlainFormat {
	tag?: number;
	channels?: number;
	rate?: number;
	bits?: number;
	/** Bytes of one sample of all channels. */
	block?: number;
}

/** The content of a plain format chunk. */
function plain({ tag = 1, channels = 1, rate = 8000, bits = 16, block }: PlainFormat = {}): Buffer {
	const blockBytes = block ?? (channels * bits) / 8;
	const content = Buffer.alloc(16);
	content.writeUInt16LE(tag, 0);
	content.writeUInt16LE(channels, 2);
	content.writeUInt32LE(rate, 4);
	content.writeUInt32LE(rate * blockBytes, 8);
	content.writeUInt16LE(blockBytes, 12);
	content.writeUInt16LE(bits, 14);
	return content;
}

const GUID = '000000001000800000aa00389b71';

function extensible({
	inner = 1,
	guid = GUID,
	...rest
}: { inner?: number; guid?: string; channels?: number } = {}) {
	const content = Buffer.alloc(40);
	plain({ tag: 0xfffe, ...rest }).copy(content);
	content.writeUInt16LE(22, 16);
	content.writeUInt16LE(16, 18);
	content.writeUInt16LE(inner, 24);
	Buffer.from(guid, 'hex').copy(content, 26);
	return content;
}

const SOUND = Buffer.from([1, 0, 2, 0, 3, 0]);

function wav({ before = [], format = plain(), dataSize, data = SOUND, after = [] }: Shape): Buffer {
	const size = dataSize === undefined ? {} : { size: dataSize };
	const body = Buffer.concat([
		...before,
		chunk('fmt ', format),
		chunk('data', data, size),
		...after,
	]);
	const head = Buffer.from('RIFF\0\0\0\0WAVE');
	head.writeUInt32LE(body.length + 4, 4);
	return Buffer.concat([head, body]);
}

const list = chunk('LIST', Buffer.from('INFOISFT\x04\0\0\0test'));

test.each<[string, Shape, samples: number]>([
	['as usual', {}, 3],
	['an extensible format', { format: extensible() }, 3],
	['a LIST before the samples', { before: [list] }, 3],
	['chunks of an odd size', { before: [chunk('note', Buffer.from('odd'))], after: [list] }, 3],
	['the size of a stream: 0', { dataSize: 0 }, 3],
	['the size of a stream: all ones', { dataSize: 0xffffffff }, 3],
	['a file that was cut off', { dataSize: 1000 }, 3],
	['a sample that is not whole', { data: SOUND.subarray(0, 5) }, 2],
	['float', { format: plain({ tag: 3, bits: 32 }), data: Buffer.alloc(8) }, 2],
	['float, extensible', { format: extensible({ inner: 3 }) }, 3],
])('%s', async (_, shape, samples) => {
	const file = wav(shape);
	const from = file.indexOf('data') + 8;
	const facts = await soundFactsOf([file]);
	if (facts.kind !== 'wav') throw new Error(JSON.stringify(facts));
	const bytes = samples * facts.format.blockBytes;
	expect(facts).toMatchObject({ units: samples, bytes, ranges: [[from, from + bytes]] });
	// Byte by byte it is the same.
	expect(await soundFactsOf([...file].map((byte) => Buffer.from([byte])))).toEqual(facts);
});

test.each([
	['PCM', plain(), 16],
	['float, extensible', extensible({ inner: 3 }), 40],
])('%s: the format of a joined file is that of its parts', async (_, format, size) => {
	const made = planJoin([await soundFactsOf([wav({ format })])], { pauseMs: 0 });
	const header = typeof made === 'string' ? Buffer.alloc(0) : made.head;
	expect(made).toMatchObject({ bytes: header.readUInt32LE(4) + 8 });
	expect(header.readUInt32LE(16)).toBe(size);
	expect(header.subarray(20, 20 + size)).toEqual(format);
});

// Whatever is kept of what was read takes time that grows with the square of its length.
test('128 MB of a stream', async () => {
	const block = Buffer.alloc(65_536);
	const blocks = Array.from({ length: 2000 }, () => block);
	const facts = await soundFactsOf([wav({ dataSize: 0 }), ...blocks]);
	expect(facts).toMatchObject({ units: 65_536_000 + 3 });
});

const coded = (how: string) => `has samples coded in a way that can't be joined (${how})`;
const CONTRADICTS = 'has a format chunk that contradicts itself';
const formatted = (format: PlainFormat) => wav({ format: plain(format) });

test.each<[string, Buffer, string]>([
	['ADPCM', formatted({ tag: 2, bits: 4, block: 256 }), coded('format 2')],
	['another GUID', wav({ format: extensible({ guid: '00'.repeat(14) }) }), coded('format 65534')],
	[
		'a short format chunk',
		wav({ format: Buffer.alloc(14) }),
		'has a format chunk that is too short',
	],
	['no channels', formatted({ channels: 0, block: 2 }), CONTRADICTS],
	['a space that its channels can not share', formatted({ channels: 2, block: 5 }), CONTRADICTS],
	['no rate', formatted({ rate: 0 }), CONTRADICTS],
	['samples with space between them', formatted({ bits: 24, block: 4 }), CONTRADICTS],
	['no samples chunk', wav({}).subarray(0, 36), 'is a WAV file without samples'],
	[
		'no format chunk',
		Buffer.concat([wav({}).subarray(0, 12), chunk('data', SOUND)]),
		'is a WAV file that does not state its format',
	],
])('%s is refused', async (_, file, problem) => {
	expect(await soundFactsOf([file])).toEqual({ kind: 'none', problem });
});
