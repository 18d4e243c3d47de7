/**
 * Reads the files that go into requests. Each is read once before anything is sent, because its content belongs to what is asked for, and
 * again whenever it is sent. Nothing of it is kept: n8n's store streams it if it can (binary mode "filesystem").
 */
import { createHash } from 'crypto';
import type { IExecuteFunctions } from 'n8n-workflow';
import { readStored } from '../files/binary';
import type { InputFile } from '../actions/fields';
import type { FormFile } from '../answers/request';
import { attemptAsync, FailureError, invalid, messageOf } from '../base/outcomes';
import { failedResult, type Item } from './item';
import type { Planned } from './plan';

const MAX_REQUEST_MB = 100;
/** Chunks are small, because what was read stays in memory until the next garbage collection, and each file is read twice. */
const FORM_CHUNK_BYTES = 16 * 1024;

async function readFiles(context: IExecuteFunctions, inputs: readonly InputFile[]) {
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
		files.push({ ...named, size: total - before, sha256: hash.digest('hex'), stream });
	}
	return files;
}

function unread(error: unknown): never {
	if (error instanceof FailureError) throw new FailureError(error.failure);
	throw invalid(
		`A file of the request could not be read: ${messageOf(error)}`,
		'Check that n8n still has the files of this execution. Nothing was sent.',
	);
}

/** Returns the items with their requests' files; an item whose files can't be sent has failed. */
export async function readInputFiles(
	context: IExecuteFunctions,
	planned: Planned,
): Promise<Planned> {
	const read: Array<Planned[number]> = [];
	for (const each of planned) {
		if (each.kind !== 'item' || each.files.length === 0) {
			read.push(each);
			continue;
		}
		const files = await attemptAsync(
			async () => await readFiles(context, each.files).catch(unread),
		);
		read.push(files.ok ? withFiles(each, files.value) : failedResult(each.index, files.failure));
	}
	return read;
}

function withFiles(item: Item, files: readonly FormFile[]): Item {
	const parts = item.parts.map((part) =>
		part.kind === 'creates' ? { ...part, request: { ...part.request, files } } : part,
	);
	return { ...item, parts };
}
