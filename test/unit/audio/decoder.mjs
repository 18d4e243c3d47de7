// Decodes MP3 in a thread of its own: the decoder is an ES module, which Jest does not load.
import { parentPort } from 'node:worker_threads';
import { MPEGDecoder } from 'mpg123-decoder';

parentPort.on('message', async (mp3) => {
	// All that is coded, also what players cut off at a file's beginning.
	const decoder = new MPEGDecoder({ enableGapless: false });
	await decoder.ready;
	parentPort.postMessage(decoder.decode(mp3));
	decoder.free();
});
