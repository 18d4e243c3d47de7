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

	json(body: unknown): void {
		this.sent = body;
		this.end();
	}

	end(): void {
		this.headersSent = true;
		this.writableEnded = true;
		this.emit('close');
	}
}
