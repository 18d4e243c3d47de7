/** Whatever the bytes are: a sound is scanned without a throw, and what is found lies in it. */
import fc from 'fast-check';
import { SoundScanner } from '../../../nodes/MediaGeneration/audio/scan';
import type { SoundFacts } from '../../../nodes/MediaGeneration/audio/sound';
import { loadMp3Encoder, toneMp3 } from '../../service/media/mp3';
import { toneWav } from '../../service/media/tone';

const SEED = { seed: 20_261_122, numRuns: 300 };

/** What is done to a file: bytes are changed, taken out, put in; it is cut off. */
const change = fc.record({
	kind: fc.constantFrom('set', 'cut', 'insert', 'end' as const),
	at: fc.double({ min: 0, max: 1, noNaN: true }),
	bytes: fc.oneof(
		fc.uint8Array({ minLength: 1, maxLength: 12 }),
		fc.constantFrom([0xff, 0xfb, 0x90, 0x64], [...Buffer.from('Info')], [...Buffer.from('data')]),
	),
});
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

function changed(file: Buffer, changes: readonly Change[]): Buffer {
	return changes.reduce((bytes, { kind, at, bytes: given }) => {
		// Half of the places lie where the headers are.
		const place = Math.floor(at < 0.5 ? at * 200 : (at - 0.5) * 2 * bytes.length);
		if (kind === 'end') return bytes.subarray(0, place);
		const inserted = kind === 'cut' ? [] : given;
		const rest = bytes.subarray(kind === 'insert' ? place : place + given.length);
		return Buffer.concat([bytes.subarray(0, place), Buffer.from(inserted), rest]);
	}, file);
}

let samples: Buffer[] = [];
beforeAll(async () => {
	await loadMp3Encoder();
	samples = [toneMp3('Hi', { title: 'x' }), toneMp3('Hi', { variable: true }), toneWav('Hi')];
});
const anyFile = fc.tuple(
	fc.nat(3),
	fc.array(change, { maxLength: 4 }),
	fc.uint8Array({ maxLength: 300 }),
);
const fileOf = ([index, changes, noise]: [number, Change[], Uint8Array]) =>
	changed(samples[index] ?? Buffer.from(noise), changes);

function scanned(file: Buffer, size: number): SoundFacts {
	const scanner = new SoundScanner();
	for (let at = 0; at < file.length; at += size) scanner.push(file.subarray(at, at + size));
	const facts = scanner.end();
	if (facts.kind !== 'none') expect(facts.seconds).toBeGreaterThanOrEqual(0);
	return facts;
}

test('sound: the same facts in chunks of any size, all of them within the file', () => {
	fc.assert(
		fc.property(anyFile, fc.integer({ min: 1, max: 5_000 }), (given, size) => {
			const file = fileOf(given);
			const facts = scanned(file, file.length + 1);
			expect(scanned(file, Math.max(size, file.length / 500))).toEqual(facts);
			if (facts.kind === 'none') return;
			let end = 0;
			for (const [from, to] of facts.ranges) {
				expect(from).toBeGreaterThanOrEqual(end);
				end = to;
			}
			expect(end).toBeLessThanOrEqual(file.length);
		}),
		SEED,
	);
});
