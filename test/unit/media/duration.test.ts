/** How long a file is, measured while it passes through. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SoundScanner } from '../../../nodes/MediaGeneration/media/scan';
import { loadMp3Encoder, toneMp3 } from '../../service/media/mp3';
import { toneSeconds, toneWav } from '../../service/media/tone';
import { decodeMp3 } from './listen';

const fixture = (name: string) => readFileSync(join(__dirname, 'files', name));

function secondsOf(file: Buffer, size = 1000): number | undefined {
	const meter = new SoundScanner();
	for (let at = 0; at < file.length; at += size) meter.push(file.subarray(at, at + size));
	const facts = meter.end();
	expect(meter.end()).toBe(facts);
	expect(facts).toEqual(factsOf([file]));
	return facts.seconds;
}

/** What a pass of its own finds. */
function factsOf(chunks: readonly Buffer[]) {
	const scanner = new SoundScanner();
	for (const chunk of chunks) scanner.push(chunk);
	return scanner.end();
}

beforeAll(loadMp3Encoder);

test('WAV: exactly', () => {
	const file = toneWav('Some words');
	expect(secondsOf(file)).toBe((file.length - 44) / 32_000);
	expect(secondsOf(file)).toBeCloseTo(toneSeconds('Some words'), 4);
	expect(secondsOf(file.subarray(0, 44 + 3200))).toBe(0.1);
});

test.each([
	['constant', { title: 'x' }],
	['variable', { variable: true, title: 'x' }],
	['without a header frame', { header: false }],
	['MPEG-2.5', { sampleRate: 8000 as const, bitrate: 32 as const }],
])('MP3, %s: what a decoder counts', async (_, options) => {
	const file = toneMp3('Some words', options);
	const { samples, sampleRate } = await decodeMp3(file);
	expect(secondsOf(file)).toBe(samples.length / sampleRate);
	expect(secondsOf(file, 7)).toBe(samples.length / sampleRate);
});

test('MP3 that breaks off: what is there, whatever its header frame states', () => {
	const file = toneMp3('Some words').subarray(0, 417 + 4 * 418 + 300);
	expect(secondsOf(file)).toBe((4 * 1152) / 44_100);
});

test('MP3 with a broken frame: as much as its header frame states, without one nobody knows', () => {
	const whole = toneMp3('Some words');
	const seconds = secondsOf(whole);
	const broken = Buffer.from(whole);
	broken.fill(0x55, 2000, 2500);
	expect(secondsOf(broken)).toBe(seconds);
	expect(secondsOf(broken.subarray(417))).toBeUndefined();
});

/** A file whose first frame says how long it is, or does not, and whose sound is broken. */
function brokenAfter(change: (header: Buffer) => void): Buffer {
	const file = Buffer.from(toneMp3('Some words'));
	const header = file.subarray(0, 417);
	header.fill(0, 4);
	change(header);
	file.fill(0x55, 2000, 2500);
	return file;
}

test('MP3 with a broken frame, and a header frame of another encoder', () => {
	const file = brokenAfter((header) => {
		header.write('VBRI', 4 + 32);
		header.writeUInt32BE(100, 4 + 32 + 14);
	});
	expect(secondsOf(file)).toBe((100 * 1152) / 44_100);
});

test('MP3 with a broken frame, and a header frame that states only its bytes: nobody knows', () => {
	const file = brokenAfter((header) => {
		header.write('Info', 4 + 17);
		header.writeUInt32BE(2, 4 + 17 + 4);
		header.writeUInt32BE(10_000, 4 + 17 + 8);
	});
	expect(secondsOf(file)).toBeUndefined();
});

test.each([
	['a header frame alone', 0, 417],
	['less than a frame', 417, 700],
])('MP3, %s: no sound, and so no duration', (_, from, to) => {
	expect(secondsOf(toneMp3('Some words').subarray(from, to))).toBeUndefined();
});

test.each([
	['nothing', Buffer.alloc(0)],
	['a byte', Buffer.from('R')],
	['a picture', Buffer.from('\x89PNG\r\n\x1a\n and more than that', 'latin1')],
	['a web page', Buffer.from('<!DOCTYPE html><html></html>')],
	['Ogg', Buffer.from('OggS'.padEnd(100))],
	['Layer II', fixture('layer2.mp2')],
	['free format', fixture('lame-free-format.mp3')],
	['a WAV file without samples', toneWav('x').subarray(0, 30)],
	['zeros', Buffer.alloc(100)],
])('%s has no duration', (_, file) => {
	expect(secondsOf(file)).toBeUndefined();
	expect(secondsOf(file, 13)).toBeUndefined();
});
