/**
 * The one rule for paths that the key goes along with, for whole paths and for IDs within them: neither the path itself nor what a
 * server in between makes of it may climb out of where it begins (RFC 3986, 5.2.4 and 6.2.2). Pure.
 */

/** Servers decode a path once, and some of those behind them once more. */
const MOST_DECODINGS = 5;

/** All bytes that are encoded, however often; undefined where that has no end. Never throws, whatever a percent sign stands before. */
function decodedPath(path: string): string | undefined {
	let decoded = path;
	for (let round = 0; round < MOST_DECODINGS; round += 1) {
		const before = decoded;
		decoded = before.replace(/%(?:25)*([\da-f]{2})/gi, (_, byte: string) =>
			String.fromCharCode(parseInt(byte, 16)),
		);
		if (decoded === before) return decoded;
	}
	return undefined;
}

/** What is wrong with a path, or with an ID that becomes a part of one. Reads on from "it"; undefined for one that is fine. */
export function pathProblem(path: string): string | undefined {
	if (/\p{Cs}/u.test(path)) return 'has half a character';
	const decoded = decodedPath(path);
	if (decoded === undefined) return 'is encoded too many times';
	// What was a byte until now: an encoded "." that is longer than it needs to be, which some servers read all the same.
	if (/%(?:25)*c[01]/i.test(path)) return 'is encoded in a way that no text is';
	// Not those above 7F, which are bytes of longer characters here.
	if (/[\0-\x1f\x7f]/.test(decoded)) return 'has a control character';
	// Some servers take backslashes for slashes, and some cut a part off at the semicolon before they look at it.
	const step = decoded.split(/[/\\;]/).find((part) => part === '.' || part === '..');
	return step === undefined ? undefined : `has the part "${step}"`;
}
