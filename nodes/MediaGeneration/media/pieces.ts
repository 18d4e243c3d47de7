/** The pieces of a joined file: what states its length for players, the sound of all parts, and silence between them. Pure. */
import { infoFrame, type Point, silentFrame } from './mp3';
import type { JoinPiece, Mp3Facts, Pieces, WavFacts } from './sound';
import { silentByte, wavHeader } from './wav';

const written = (bytes: Buffer): JoinPiece => ({
	kind: 'pattern',
	pattern: bytes,
	length: bytes.length,
});

/** All parts, which have the format of the first one, with frames of silence for about `pauseMs` between them. */
export function mp3Pieces(first: Mp3Facts, parts: readonly Mp3Facts[], pauseMs: number): Pieces {
	const { header } = first;
	const isConstant = parts.every((part) => part.bitrateIndex === first.bitrateIndex);
	const bitrateIndex = isConstant ? first.bitrateIndex : undefined;
	const { sampleRate, samplesPerFrame } = header;
	const secondsOf = (count: number) => (count * samplesPerFrame) / sampleRate;
	const exact = (pauseMs * sampleRate) / (1000 * samplesPerFrame);
	const pause = pauseMs > 0 ? Math.max(1, Math.round(exact)) : 0;
	const silence = silentFrame(header, bitrateIndex);
	const pieces: JoinPiece[] = [];
	const points: Point[] = [];
	const times: Pieces['parts'] = [];
	let [frames, bytes] = [0, 0];
	for (const [index, part] of parts.entries()) {
		if (index > 0 && pause > 0) {
			const length = pause * silence.length;
			pieces.push({ kind: 'pattern', pattern: silence, length });
			points.push([frames, bytes]);
			frames += pause;
			bytes += length;
		}
		pieces.push({ kind: 'part', index, ranges: part.ranges });
		for (const [step, before] of part.points.entries())
			points.push([frames + step * part.stride, bytes + before]);
		times.push({ start: secondsOf(frames), end: secondsOf(frames + part.frames) });
		frames += part.frames;
		bytes += part.bytes;
	}
	points.push([frames, bytes]);
	pieces.unshift(written(infoFrame({ header, bitrateIndex, points })));
	return { pieces, parts: times, durationSeconds: secondsOf(frames) };
}

/** The same for WAV files, with silence of exactly `pauseMs`. */
export function wavPieces(first: WavFacts, parts: readonly WavFacts[], pauseMs: number): Pieces {
	const { format } = first;
	const secondsOf = (count: number) => count / format.sampleRate;
	const pause = Math.round((pauseMs * format.sampleRate) / 1000);
	const pieces: JoinPiece[] = [];
	const times: Pieces['parts'] = [];
	let samples = 0;
	for (const [index, part] of parts.entries()) {
		if (index > 0 && pause > 0) {
			const pattern = Buffer.alloc(format.blockBytes, silentByte(format));
			pieces.push({ kind: 'pattern', pattern, length: pause * format.blockBytes });
			samples += pause;
		}
		const ranges = part.bytes === 0 ? [] : part.ranges;
		pieces.push({ kind: 'part', index, ranges });
		times.push({ start: secondsOf(samples), end: secondsOf(samples + part.samples) });
		samples += part.samples;
	}
	const bytes = samples * format.blockBytes;
	pieces.unshift(written(wavHeader(format, bytes)));
	if (bytes % 2 === 1) pieces.push(written(Buffer.alloc(1)));
	return { pieces, parts: times, durationSeconds: secondsOf(samples) };
}
