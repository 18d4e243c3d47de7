/** The cluster's PostgreSQL as its operator sees it: by psql, past n8n. */
import { execFile, spawn } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

export class Database {
	private readonly args: string[];

	constructor(port: number) {
		this.args = ['-h', '127.0.0.1', '-p', String(port), '-U', 'postgres', '-qAt'];
	}

	/** @returns what a query that gives one value gave */
	async value(sql: string): Promise<string> {
		const { stdout } = await run('psql', [...this.args, '-c', sql]);
		return stdout.trim();
	}

	/** Transactions that PostgreSQL has committed since its start; a query outside of any is one by itself. */
	async commits(): Promise<number> {
		return Number(
			await this.value("SELECT xact_commit FROM pg_stat_database WHERE datname = 'postgres'"),
		);
	}

	/** How many executions of a workflow have which status, without a word to n8n, which may be away. */
	async statuses(workflowId: string): Promise<Record<string, number>> {
		const rows = await this.value(
			`SELECT json_object_agg(status, count) FROM (SELECT status, count(*) FROM execution_entity WHERE "workflowId" = '${workflowId}' GROUP BY status) AS counted`,
		);
		return (JSON.parse(rows === '' ? '{}' : rows) ?? {}) as Record<string, number>;
	}

	/** Keeps everybody from changing an execution's row until the returned function is called. */
	async lockExecution(id: string): Promise<() => Promise<void>> {
		const child = spawn('psql', this.args, { stdio: ['pipe', 'pipe', 'inherit'] });
		const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
		const locked = new Promise<void>((resolve) => child.stdout.once('data', () => resolve()));
		child.stdin.write(`BEGIN; SELECT id FROM execution_entity WHERE id = ${id} FOR UPDATE;\n`);
		await Promise.race([locked, ended]);
		return async () => {
			if (!child.stdin.writableEnded) child.stdin.end('COMMIT;\n');
			await ended;
		};
	}
}
