/** The limits that defend against hostile senders and services: nothing from outside may fill the memory or block n8n's event loop. */

export interface Bound {
	bytes: number;
	depth: number;
	/** Commas, and brackets that open, in texts as well. */
	values: number;
}

/** Real answers have a few kB, lists up to 1 MB, and tasks whose files are in the answer as data URLs some MB. */
export const ANSWER: Bound = { bytes: 32_000_000, depth: 100, values: 250_000 };
/** A callback that nobody confirms. Real ones have a few kB, and the text of the task. */
export const POST: Bound = { bytes: 1_000_000, depth: 30, values: 20_000 };
/** A callback of which only the ID and the status count. n8n itself reads no more than `N8N_PAYLOAD_SIZE_MAX`. */
export const POSTED_HINT: Bound = { bytes: 512_000_000, depth: 1_000, values: ANSWER.values };

/** Levels that are searched for the records of a list and the reasons of an error; for the addresses of files, twice as many. */
export const MAX_LEVELS = 5;
/** Fields of an object, and values of each level, that are searched for addresses: no task has nearly as many. */
export const MAX_LOOKED_AT = 1_000;
/** Objects and lists around a text of a request, or around a task that an answer names. */
export const MAX_DEPTH = 20;
/** Characters of what a deletion left undone, which are searched: several million words would block n8n for seconds. */
export const MAX_ERRORS = 1_000_000;
/** Characters of an answer that is no JSON, which are searched. */
export const MAX_TEXT = 20_000;

/** Pages of a list, which may have no end. */
export const MAX_PAGES = 1_000;
/** Characters of all pages of a list. */
export const MAX_LIST = 100_000_000;

/** Characters. */
export const MAX_TASK_ID = 4_000;
export const MAX_REFERENCE = 500;

/** A longer Retry-After is cut to this. */
export const MAX_RETRY_AFTER_MS = 5 * 60_000;

/** Files of one task. */
export const MAX_FILES = 100;
/** Enough for ten hours of speech. Parsing more at once would block n8n's event loop for too long. */
export const TRANSCRIPT: Bound = { bytes: 5_000_000, depth: 32, values: 500_000 };
/** Transcripts that are merged, together. */
export const MAX_TRANSCRIPT_BYTES = 20_000_000;
