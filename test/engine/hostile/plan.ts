/**
 * How one file host misbehaves, drawn from a seed: the file, the host's habits, and what goes wrong with single requests.
 * Left out is what HTTP can't show: a Content-Length below the file's, a compressed body that is cut before it is sent, and
 * a reset right behind the last chunk of a compressed body (n8n's HTTP client then loses what it has not decompressed yet).
 */
import type { OutputKind } from '../../../nodes/MediaGeneration/service/outputs';
import { seededRandom } from '../../support/virtualClock';

export interface Content {
	kind: OutputKind;
	extension: string;
	/** What it is to be delivered as. */
	mimeType: string;
	/** Whether its bytes show that, or only its host's word. */
	signed: boolean;
	versions: Buffer[];
}

export interface Habits {
	stated: string;
	framing: 'length' | 'longLength' | 'chunked' | 'close';
	encoding: 'none' | 'gzip' | 'deflate' | 'br' | 'gzip, gzip' | 'gzip that is none';
	/** Whether parts are places in the compressed bytes. */
	compressedParts: boolean;
	validators: 'strong' | 'date' | 'weak' | 'none' | 'fickle';
	ranges:
		| 'all'
		| 'none'
		| 'capped'
		| 'unknownTotal'
		| 'later'
		| 'fromStart'
		| 'shifted'
		| 'refused'
		| 'otherTotal'
		| 'list'
		| 'careless';
	redirects: number;
}

export type Trouble =
	| { type: 'cut' | 'reset' | 'stall'; after: number }
	| { type: 'status'; status: number; retryAfter?: number }
	| { type: 'page' | 'words' | 'silence' | 'slowly' }
	/** A whole answer, and then a reset instead of an end. */
	| { type: 'resetAfterAll' };

export interface Plan {
	seed: number;
	content: Content;
	habits: Habits;
	/** By request; what is not there goes well. */
	troubles: Array<Trouble | undefined>;
	/** The request from which on it is another file, if ever. */
	changesAt: number;
	store: 'works' | 'failsAtOnce' | 'failsLater';
	/** Max File Size. */
	maxBytes: number;
	/** Real ms after which the execution is stopped. */
	stopAfterMs: number | undefined;
	/** Whether nothing of it can keep the file from being delivered. */
	harmless: boolean;
}

type Random = () => number;
const pick = <T>(random: Random, ...values: readonly T[]): T =>
	values[Math.floor(random() * values.length)] as T;

/** Made once, as making them is slow. */
const POOL = (() => {
	const random = seededRandom(0);
	const bytes = Buffer.alloc(1 << 20);
	for (let at = 0; at < bytes.length; at += 4)
		bytes.writeUInt32LE(Math.floor(random() * 2 ** 32), at);
	return bytes;
})();

/** Bytes that compress badly, none of which are text. */
function noise(random: Random, length: number): Buffer {
	const start = Math.floor(random() * (POOL.length - length));
	const bytes = Buffer.from(POOL.subarray(start, start + length));
	bytes[0] = 0;
	return bytes;
}

function mp3(random: Random, length: number): Buffer {
	const frames = Math.max(2, Math.ceil(length / 417));
	const bytes = noise(random, frames * 417);
	for (let frame = 0; frame < frames; frame += 1) bytes.writeUInt32BE(0xfffb9064, frame * 417);
	return bytes;
}

type Make = (random: Random, length: number) => Buffer;

const startsWith =
	(head: string): Make =>
	(random, length) =>
		Buffer.concat([Buffer.from(head, 'latin1'), noise(random, length)]);

function words(random: Random, length: number): string[] {
	return Array.from({ length: Math.ceil(length / 12) }, () => random().toString(36).slice(2, 10));
}

const subtitles: Make = (random, length) =>
	Buffer.from(`1\n00:00:00,000 --> 00:00:09,000\n${words(random, length).join(' ')}`);
const segments: Make = (random, length) =>
	Buffer.from(JSON.stringify(words(random, length).map((text) => ({ text }))));

/** Kind, extension, MIME type, whether its first bytes say what it is, and how it is made. */
const CONTENTS: Array<[Content['kind'], string, string, boolean, Make]> = [
	['audio', 'wav', 'audio/wav', true, startsWith('RIFF\0\0\0\0WAVEfmt ')],
	['audio', 'mp3', 'audio/mpeg', true, mp3],
	['audio', 'mp3', 'audio/mpeg', true, startsWith('ID3\x04\0')],
	['audio', 'pcm', 'audio/pcm', false, startsWith('\xff\xff\0\0')],
	['image', 'png', 'image/png', true, startsWith('\x89PNG\r\n\x1a\n')],
	['image', 'webp', 'image/webp', true, startsWith('RIFF\0\0\0\0WEBP')],
	['file', 'mp4', 'video/mp4', true, startsWith('\0\0\0\x20ftypisom')],
	['transcript', 'srt', 'application/x-subrip', true, subtitles],
	['transcript', 'json', 'application/json', false, segments],
];

function contentOf(random: Random): Content {
	const [kind, extension, mimeType, signed, make] = pick(random, ...CONTENTS);
	const length = Math.floor(random() < 0.85 ? 20 + random() * 20_000 : 60_000 + random() * 140_000);
	const first = make(random, length);
	const second =
		random() < 0.5 ? make(random, length) : make(random, Math.floor(length * random()) + 20);
	return { kind, extension, mimeType, signed, versions: [first, second] };
}

function habitsOf(random: Random, { mimeType, signed }: Content): Habits {
	const odd = (chance: number) => random() < chance;
	const others = [
		'application/octet-stream',
		'text/plain',
		'text/html',
		'image/jpeg',
		'audio/ogg',
		'',
	];
	return {
		stated: signed && odd(0.4) ? pick(random, ...others) : mimeType,
		framing: odd(0.5) ? 'length' : pick(random, 'length', 'longLength', 'chunked', 'close'),
		encoding: odd(0.6)
			? 'none'
			: pick(random, 'gzip', 'gzip', 'deflate', 'br', 'gzip, gzip', 'gzip that is none'),
		compressedParts: odd(0.3),
		validators: pick(random, 'strong', 'strong', 'date', 'weak', 'none', 'fickle'),
		ranges: odd(0.4)
			? 'all'
			: pick(
					random,
					'none',
					'capped',
					'unknownTotal',
					'later',
					'fromStart',
					'shifted',
					'refused',
					'otherTotal',
					'list',
					'careless',
				),
		redirects: odd(0.1) ? Math.ceil(random() * 6) : 0,
	};
}

function troubleOf(random: Random, length: number): Trouble {
	const place = Math.floor(random() * length);
	const roll = random();
	if (roll < 0.3) return { type: 'cut', after: place };
	if (roll < 0.35) return { type: 'resetAfterAll' };
	if (roll < 0.6) return { type: 'reset', after: place };
	if (roll < 0.64) return { type: 'stall', after: place };
	if (roll < 0.66) return { type: 'silence' };
	if (roll < 0.7) return { type: 'slowly' };
	if (roll < 0.78) return { type: 'page' };
	if (roll < 0.82) return { type: 'words' };
	const status = pick(random, 403, 404, 408, 416, 429, 500, 502, 503, 206, 304);
	return { type: 'status', status, ...(random() < 0.3 ? { retryAfter: 1 } : {}) };
}

/** Troubles that another request overcomes, whatever came before. */
const PASSING = new Set(['cut', 'reset', 'stall', 'silence', 'slowly', 'resetAfterAll']);

export function planOf(seed: number): Plan {
	const random = seededRandom(seed);
	const content = contentOf(random);
	const habits = habitsOf(random, content);
	const length = content.versions[0]?.length ?? 0;
	const count = pick(random, 0, 1, 1, 2, 2, 3, 6);
	const troubles = Array.from({ length: count }, () =>
		random() < 0.2 ? undefined : troubleOf(random, length),
	);
	if (habits.framing === 'chunked' && habits.encoding !== 'none')
		for (const [index, trouble] of troubles.entries())
			if (trouble?.type === 'resetAfterAll') troubles[index] = { type: 'cut', after: 1_000 };
	const changesAt = random() < 0.15 ? 1 + Math.floor(random() * 3) : Infinity;
	const store = pick(random, ...Array<'works'>(30).fill('works'), 'failsAtOnce', 'failsLater');
	const maxBytes = random() < 0.05 ? 10_000 : 5_000_000;
	const stopAfterMs = random() < 0.02 ? random() * 30 : undefined;
	const harmless =
		!['gzip, gzip', 'gzip that is none'].includes(habits.encoding) &&
		habits.framing !== 'longLength' &&
		// Where nothing else states its length, a file is as long as a part says.
		(habits.ranges !== 'otherTotal' ||
			(habits.framing === 'length' && habits.encoding === 'none')) &&
		habits.redirects <= 5 &&
		troubles.every((trouble) => trouble === undefined || PASSING.has(trouble.type)) &&
		troubles.length <= 3 &&
		changesAt === Infinity &&
		store === 'works' &&
		length <= maxBytes &&
		stopAfterMs === undefined;
	return { seed, content, habits, troubles, changesAt, store, maxBytes, stopAfterMs, harmless };
}
