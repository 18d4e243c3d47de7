/** Stores a file that its own address contains (RFC 2397). It can't be larger than an answer (`bounded.ts`). */
import { SoundScanner } from '../audio/scan';
import { attempt, messageOf } from '../base/outcomes';
import { tooLarge, type DownloadDeps } from './download';
import { fileTypeOf, problemWith } from './kind';
import { storedFile, type DeliveredFile, type WantedFile } from './storedFile';

function decoded(payload: string, isBase64: boolean): Buffer | undefined {
	const text = attempt(() => decodeURIComponent(payload));
	return text.ok ? Buffer.from(text.value, isBase64 ? 'base64' : 'utf8') : undefined;
}

/** @returns the file, or why it could not be stored, completing "could not be downloaded: ..." */
export async function storeDataUrl(
	wanted: WantedFile,
	{ context }: Pick<DownloadDeps, 'context'>,
): Promise<DeliveredFile | string> {
	const comma = wanted.url.indexOf(',');
	const stated = wanted.url.slice('data:'.length, comma);
	const bytes = decoded(wanted.url.slice(comma + 1), /;\s*base64\s*$/i.test(stated));
	const isEmpty = bytes?.length === 0 && wanted.kind !== 'transcript';
	if (bytes === undefined || isEmpty) return 'its address contains no file';
	if (bytes.length > wanted.maxBytes) return tooLarge(wanted.maxBytes, bytes.length);
	const about = { ...wanted, url: '', stated };
	const problem = problemWith(bytes, about);
	if (problem !== undefined) return problem;
	const { mimeType, extension } = fileTypeOf(bytes, about);
	const fileName = `${wanted.baseName}.${extension}`;
	const scanner = new SoundScanner();
	scanner.push(bytes);
	try {
		const binary = await context.helpers.prepareBinaryData(bytes, fileName, mimeType);
		const file = { fileName, mimeType, bytes: bytes.length, sound: scanner.end() };
		return storedFile(wanted, binary, file);
	} catch (error) {
		return `n8n could not store it: ${messageOf(error)}`;
	}
}
