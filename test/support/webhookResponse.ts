import { EventEmitter } from 'node:events';

/** n8n's response to a webhook call, as far as the nodes, the sender and n8n drive it. */
export class WebhookResponse extends EventEmitter {
	statusCode = 200;
	writableEnded = false;
	headersSent = false;
	/** What was answered. */
	sent: unknown;

	status(code: number): this {
		this.statusCode = code;
		return this;
	}

	/** Once: after that, as with any HTTP server, there is nothing left to answer. */
	json(body: unknown): void {
		if (this.headersSent) throw new Error('This call was answered before');
		this.sent = body;
		this.end();
	}

	end(): void {
		this.headersSent = true;
		this.writableEnded = true;
		this.emit('close');
	}
}
