/** n8n's binary store in memory: as its mode `filesystem` works, which streams, or as `default`, where items hold their files. */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { IBinaryData } from 'n8n-workflow';

export type BinaryStore = ReturnType<typeof binaryStore>;

interface Trouble {
	/** Whether each write, and each read, is refused. */
	writes: readonly boolean[];
	reads: readonly boolean[];
	/** The largest file in bytes; 0: any. */
	limit: number;
}

export function binaryStore(mode: 'filesystem' | 'default', given: Partial<Trouble> = {}) {
	const files = new Map<string, Buffer>();
	/** Every stream that was handed out or in. */
	const streams: Readable[] = [];
	const trouble: Trouble = { writes: [], reads: [], limit: 0, ...given };
	const uses = { writes: 0, reads: 0 };
	function put(bytes: Buffer, fileName: string, mimeType: string): IBinaryData {
		if (mode === 'default') return { data: bytes.toString('base64'), fileName, mimeType };
		const id = `filesystem-v2:${files.size}`;
		files.set(id, bytes);
		return { data: 'filesystem-v2', id, fileName, mimeType };
	}
	const helpers = {
		async getBinaryStream(id: string, chunkBytes: number) {
			if (trouble.reads[uses.reads++] === true) throw new Error('the file is gone');
			const bytes = files.get(id);
			if (bytes === undefined) throw new Error(`There is no file ${id}`);
			const chunks = function* () {
				for (let at = 0; at < bytes.length; at += chunkBytes)
					yield bytes.subarray(at, at + chunkBytes);
			};
			const stream = Readable.from(chunks(), { objectMode: false });
			streams.push(stream);
			return await Promise.resolve(stream);
		},
		async prepareBinaryData(given: Buffer | Readable, fileName: string, mimeType: string) {
			if (given instanceof Readable) streams.push(given);
			if (trouble.writes[uses.writes++] === true) throw new Error('no space left on device');
			const bytes = given instanceof Readable ? await buffer(given) : given;
			if (trouble.limit > 0 && bytes.length > trouble.limit)
				throw new Error('the file is too large for the store');
			return put(bytes, fileName, mimeType);
		},
	};
	return {
		helpers,
		streams,
		trouble,
		put,
		bytesOf: ({ id, data }: IBinaryData): Buffer =>
			id === undefined ? Buffer.from(data, 'base64') : (files.get(id) ?? Buffer.alloc(0)),
	};
}
