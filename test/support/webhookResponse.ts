import { EventEmitter } from 'node:events';

/** n8n's response to a webhook call, as far as the nodes, the sender and n8n drive it. */
export class WebhookResponse extends EventEmitter {
	statusCode = 200;
	writableEnded = false;
	destroyed = false;
	headersSent = false;
	/** What was answered. */
	sent: unknown;

	readonly headers: Record<string, unknown> = {};

	setHeader(name: string, value: unknown): void {
		this.headers[name] = value;
	}

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

	/** The connection is gone. */
	destroy(): void {
		this.destroyed = true;
		this.emit('close');
	}

	end(): void {
		this.headersSent = true;
		this.writableEnded = true;
		this.emit('close');
	}
}
