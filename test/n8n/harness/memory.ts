import { readdirSync, readFileSync } from 'node:fs';

/** A process of a group, as /proc shows it. Bytes. */
export interface ProcessMemory {
	pid: number;
	command: string;
	rssBytes: number;
	/** The most it ever had (VmHWM). */
	peakBytes: number;
}

/** Memory of a whole process group. `peakBytes` adds up the peaks of its processes. */
export interface GroupMemory {
	rssBytes: number;
	peakBytes: number;
	processes: ProcessMemory[];
}

function read(path: string): string {
	try {
		return readFileSync(path, 'utf8');
	} catch {
		return ''; // The process ended in between.
	}
}

/** Process ids of a group; zombies do not count. Linux only: undefined elsewhere. */
export function groupMembers(group: number): number[] | undefined {
	if (process.platform !== 'linux') return undefined;
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

/** What the processes of a group hold now, and held at most. Linux only. */
export function groupMemory(group: number): GroupMemory {
	const members = groupMembers(group);
	if (!members) throw new Error('Memory is read from /proc, which only Linux has');
	const processes = members.map((pid) => {
		const status = read(`/proc/${pid}/status`);
		const kilobytes = (field: string) =>
			Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
		return {
			pid,
			command: read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim(),
			rssBytes: kilobytes('VmRSS') * 1024,
			peakBytes: kilobytes('VmHWM') * 1024,
		};
	});
	const sum = (key: 'rssBytes' | 'peakBytes') =>
		processes.reduce((total, entry) => total + entry[key], 0);
	return { rssBytes: sum('rssBytes'), peakBytes: sum('peakBytes'), processes };
}
