/** What became of a request: an answer as it came, or silence. */
import type { Read } from '../base/bounded';

export interface Answer extends Read {
	answered: true;
	status: number;
	headers: Record<string, unknown>;
	/** Only the beginning if the answer exceeds its bound. */
	text: string;
}

export interface NoAnswer {
	answered: false;
	/** Only an `unanswered` request can have reached the service. An `unsent` one was never complete. */
	kind: 'unanswered' | 'unconnected' | 'impossible' | 'unsent';
	reason: string;
}

export type Reply = Answer | NoAnswer;
