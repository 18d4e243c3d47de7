/**
 * Reads the files that go into requests. Each is read once before anything is sent, because its content belongs to what is asked for, and
 * again whenever it is sent. Nothing of it is kept: n8n's store streams it if it can (binary mode "filesystem").
 */
import { createHash } from 'crypto';
import type { IExecuteFunctions } from 'n8n-workflow';
import { readStored } from '../files/binary';
import type { InputFile } from '../actions/fields';
import type { FormFile } from '../answers/request';
import { invalid } from '../base/outcomes';
import { onOneLine } from '../base/words';

const MAX_REQUEST_MB = 100;
/** Chunks are small, because what was read stays in memory until the next garbage collection, and each file is read twice. */
const FORM_CHUNK_BYTES = 16 * 1024;

/** Throws a FailureError if they are too large or one is empty, and what n8n's store throws. */
export async function readFiles(
	context: IExecuteFunctions,
	inputs: readonly InputFile[],
): Promise<FormFile[]> {
	const files: FormFile[] = [];
	let total = 0;
	for (const { binary, ...named } of inputs) {
		const stream = () => readStored(context, binary, FORM_CHUNK_BYTES);
		const hash = createHash('sha256');
		const before = total;
		for await (const chunk of stream()) {
			total += chunk.length;
			if (total > MAX_REQUEST_MB * 1_000_000)
				throw invalid(
					`The files of the request have more than ${MAX_REQUEST_MB} MB together`,
					'Send fewer or smaller files. Nothing was sent.',
				);
			hash.update(chunk);
		}
		if (total === before)
			throw invalid(
				`The file "${onOneLine(named.name)}" is empty`,
				'Check the node that made it. Nothing was sent.',
			);
		files.push({ ...named, size: total - before, sha256: hash.digest('hex'), stream });
	}
	return files;
}
