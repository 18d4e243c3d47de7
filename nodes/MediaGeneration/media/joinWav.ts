/** The pieces of a joined WAV file: one header, and the samples of all parts. Pure. */
import type { JoinPiece, Pieces } from './pieces';
import type { WavFacts } from './sound';
import { silentByte, wavHeader } from './wav';

/** All parts, which have the format of the first one, with silence of `pauseMs` between them. */
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
