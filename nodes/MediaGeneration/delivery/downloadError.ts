/** Why a file did not come. The message completes "could not be downloaded: ...". */
export class DownloadError extends Error {
	/**
	 * @param next what may help: `again` another request, `confirm` one that shows whether this was the end, `startOver` all
	 *   of it once more from nothing, or `nothing`
	 * @param retryAfterMs what the host asked for
	 */
	constructor(
		message: string,
		readonly next: 'again' | 'confirm' | 'startOver' | 'nothing',
		readonly retryAfterMs?: number,
	) {
		super(message);
		this.name = 'DownloadError';
	}
}

export function asDownloadError(error: unknown): DownloadError {
	if (error instanceof DownloadError) return error;
	return new DownloadError(error instanceof Error ? error.message : 'the download failed', 'again');
}

/** In megabytes, to three digits. */
export function megabytes(bytes: number): string {
	return `${Number((bytes / 1_000_000).toPrecision(3))} MB`;
}
