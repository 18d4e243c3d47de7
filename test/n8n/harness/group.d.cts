type Run = (file: string, args: string[], options: object) => unknown;

export function signalGroup(
	group: number,
	signal: NodeJS.Signals | 0,
	on?: { platform?: NodeJS.Platform; run?: Run },
): boolean;
