/** Limits the memory that files take while they arrive in n8n's binary store. */
import type { IBinaryData } from 'n8n-workflow';
import type { Clock } from '../base/clock';

export interface Pace extends Clock {
	signal?: AbortSignal | undefined;
}

/** A file on its way into the store. */
interface Arriving {
	charged: number;
	isWaiting: boolean;
}

const [FIRST_STEP, LAST_STEP] = [262_144, 8_388_608];
const MOMENT_MS = 250;

/**
 * In filesystem mode n8n's store streams. In its other modes (database, S3, Azure, memory) it puts each file into one buffer first
 * (`binary-data`, n8n-core 2.41), and files that arrive together can end the process. So files are charged with what has arrived of them,
 * in steps that double; beyond the limit they wait, but the oldest that waits only for a moment: nobody waits for what a host may still send.
 */
export class StoreMemory {
	private charged = 0;
	/** When a file went on beyond the limit. */
	private exceededAt = 0;
	/** Sorted by when they began. */
	private readonly files = new Set<Arriving>();

	constructor(private limit: number) {}

	begin(): Arriving {
		const file = { charged: 0, isWaiting: false };
		this.files.add(file);
		return file;
	}

	end(file: Arriving): void {
		if (this.files.delete(file)) this.charged -= file.charged;
	}

	async *through(
		chunks: AsyncIterable<Buffer>,
		file: Arriving,
		pace: Pace,
	): AsyncGenerator<Buffer> {
		let arrived = 0;
		for await (const chunk of chunks) {
			arrived += chunk.length;
			while (file.charged < arrived) await this.grow(file, pace);
			yield chunk;
		}
	}

	/** Learns from a stored file how the store works: its mode belongs to the process and never changes. */
	noteMode({ id }: IBinaryData): void {
		if (id?.startsWith('filesystem') === true) this.limit = Infinity;
	}

	private async grow(file: Arriving, { now, sleep, signal }: Pace): Promise<void> {
		file.isWaiting = true;
		while (this.charged >= this.limit && signal?.aborted !== true && this.files.has(file)) {
			await sleep(MOMENT_MS, signal);
			const oldest = [...this.files].find(({ isWaiting }) => isWaiting);
			if (oldest === file && now() - this.exceededAt >= MOMENT_MS) break;
		}
		if (this.charged >= this.limit) this.exceededAt = now();
		file.isWaiting = false;
		const step = Math.min(LAST_STEP, Math.max(FIRST_STEP, file.charged));
		file.charged += step;
		if (this.files.has(file)) this.charged += step;
	}
}

export const storeMemory = new StoreMemory(100_000_000);
