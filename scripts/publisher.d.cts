interface Manifest {
	author: { email: string };
	repository: { url: string };
	homepage: string;
}

export const standIn: string;
export function addressOf(manifest: Manifest): string;
export function placeholdersIn(manifest: Manifest): string[];
export function fillIn(folder: string, manifest: Manifest): void;
