// Decodes MP3 in a thread of its own: the decoder is an ES module, which Jest does not load.
import { parentPort, workerData } from 'node:worker_threads';
import { MPEGDecoder } from 'mpg123-decoder';

// All that is coded, also what players cut off at a file's beginning.
const decoder = new MPEGDecoder({ enableGapless: false });
await decoder.ready;
parentPort.postMessage(decoder.decode(workerData));
