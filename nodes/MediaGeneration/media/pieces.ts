/** The pieces of a joined file: what states its length for players, the sound of all parts, and silence between them. Pure. */
import { infoFrame, silentFrame } from './mp3';
import type { JoinPiece, Mp3Facts, Pieces, WavFacts } from './sound';
import { silentByte, wavHeader } from './wav';

/** A run of frames in the joined file. */
interface Run {
	frames: number;
	bytes: number;
	/** How many bytes of the run lie before one of its frames. */
	bytesBefore: (frame: number) => number;
}

function partRun({ frames, bytes, points, stride }: Mp3Facts): Run {
	const bytesBefore = (frame: number) => {
		const index = Math.floor(frame / stride);
		const before = points[index] ?? 0;
		const span = Math.min(stride, frames - index * stride);
		const after = points[index + 1] ?? bytes;
		return before + ((after - before) * (frame - index * stride)) / span;
	};
	return { frames, bytes, bytesBefore };
}

function bytesBeforeFrame(runs: readonly Run[], frame: number): number {
	let [frames, bytes] = [0, 0];
	for (const run of runs) {
		if (frame < frames + run.frames) return bytes + run.bytesBefore(frame - frames);
		frames += run.frames;
		bytes += run.bytes;
	}
	return bytes;
}

/** All parts, which have the format of the first one, with frames of silence for about `pauseMs` between them. */
export function mp3Pieces(first: Mp3Facts, parts: readonly Mp3Facts[], pauseMs: number): Pieces {
	const { header } = first;
	const isConstant = parts.every((part) => part.bitrateIndex === first.bitrateIndex);
	const bitrateIndex = isConstant ? first.bitrateIndex : undefined;
	const { sampleRate, samplesPerFrame } = header;
	const exact = (pauseMs * sampleRate) / (1000 * samplesPerFrame);
	const pause = pauseMs > 0 ? Math.max(1, Math.round(exact)) : 0;
	const silence = silentFrame(header, bitrateIndex);
	const pieces: JoinPiece[] = [];
	const runs: Run[] = [];
	const times: Pieces['parts'] = [];
	let frames = 0;
	parts.forEach((part, index) => {
		if (index > 0 && pause > 0) {
			const length = pause * silence.length;
			pieces.push({ kind: 'pattern', pattern: silence, length });
			runs.push({ frames: pause, bytes: length, bytesBefore: (frame) => frame * silence.length });
			frames += pause;
		}
		pieces.push({ kind: 'part', index, ranges: part.ranges });
		runs.push(partRun(part));
		times.push({ from: frames * samplesPerFrame, to: (frames + part.frames) * samplesPerFrame });
		frames += part.frames;
	});
	const bytes = runs.reduce((sum, run) => sum + run.bytes, 0);
	const bytesBefore = (frame: number) => bytesBeforeFrame(runs, frame);
	const info = infoFrame({ header, bitrateIndex, frames, bytes, bytesBefore });
	pieces.unshift({ kind: 'bytes', bytes: info });
	return { pieces, parts: times, samples: frames * samplesPerFrame, sampleRate };
}

/** The same for WAV files: all parts, which have the format of the first one, with silence of `pauseMs` between them. */
export function wavPieces(first: WavFacts, parts: readonly WavFacts[], pauseMs: number): Pieces {
	const { format } = first;
	const pause = Math.round((pauseMs * format.sampleRate) / 1000);
	const pieces: JoinPiece[] = [];
	const times: Pieces['parts'] = [];
	let samples = 0;
	parts.forEach((part, index) => {
		if (index > 0 && pause > 0) {
			const pattern = Buffer.alloc(format.blockBytes, silentByte(format));
			pieces.push({ kind: 'pattern', pattern, length: pause * format.blockBytes });
			samples += pause;
		}
		const ranges = part.bytes === 0 ? [] : part.ranges;
		pieces.push({ kind: 'part', index, ranges });
		times.push({ from: samples, to: samples + part.samples });
		samples += part.samples;
	});
	const bytes = samples * format.blockBytes;
	pieces.unshift({ kind: 'bytes', bytes: wavHeader(format, bytes) });
	if (bytes % 2 === 1) pieces.push({ kind: 'bytes', bytes: Buffer.alloc(1) });
	return { pieces, parts: times, samples, sampleRate: format.sampleRate };
}
