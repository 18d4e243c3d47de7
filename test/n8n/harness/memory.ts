import { readdirSync, readFileSync } from 'node:fs';

function read(path: string): string {
	try {
		return readFileSync(path, 'utf8');
	} catch {
		return ''; // The process ended in between.
	}
}

/** Process ids of a group; zombies do not count. Linux only, as all suites in a real n8n. */
export function groupMembers(group: number): number[] {
	return readdirSync('/proc')
		.map(Number)
		.filter((pid) => {
			if (!pid) return false;
			// "pid (command) state ppid pgrp ...", and a command may hold spaces and brackets.
			const stat = read(`/proc/${pid}/stat`);
			const [state, , pgrp] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
			return Number(pgrp) === group && state !== 'Z' && state !== 'X';
		});
}

/** What the processes of a group hold now, in bytes. */
export function groupBytes(group: number): number {
	const kilobytes = groupMembers(group).map(
		(pid) => /^VmRSS:\s+(\d+)/m.exec(read(`/proc/${pid}/status`))?.[1],
	);
	return kilobytes.reduce((sum, each) => sum + Number(each ?? 0) * 1024, 0);
}
