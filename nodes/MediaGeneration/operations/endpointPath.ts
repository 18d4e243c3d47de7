/**
 * The path that "Task: Create" posts to. The key goes along, so the path must not lead out of the Base URL: neither by itself, nor
 * by what a server in between makes of it (RFC 3986, 5.2.4 and 6.2.2).
 */
import { invalid, type FailureError } from '../service/failures';
import { encodable } from './fields';

const MAX_LENGTH = 2_000;
/** What a path may have unencoded (RFC 3986, 3.3), but encodeURIComponent encodes. */
const PLAIN_IN_PATHS = /%(?:24|26|2B|2C|3A|3D|40)/g;

function refused(reason: string): FailureError {
	return invalid(
		`The field "Path" can't be used: ${reason}`,
		'Enter the path of the endpoint as the service documents it, beginning with one slash, e.g. /v1m/task/music-generation. Parameters go into the field "Query".',
	);
}

function decoded(part: string): string {
	try {
		return decodeURIComponent(part);
	} catch {
		throw refused('it has a percent sign that encodes nothing; write %25 for the sign itself');
	}
}

/** What is wrong with a part, once it is decoded. */
function problemOf(part: string): string | undefined {
	if (part.includes('/')) return 'it has an encoded slash';
	if (part.includes('\\')) return 'it has a backslash';
	if (part.includes('?')) return 'it has a question mark';
	if (part.includes('#')) return 'it has a number sign (#)';
	if (/\p{Cc}/u.test(part)) return 'it has a control character';
	if (/%[0-9a-f]{2}/i.test(part)) return 'a part of it is encoded twice';
	// Some servers cut a part off at the semicolon before they look at it.
	const [name] = part.split(';');
	return name === '.' || name === '..' ? `it has the part "${name}"` : undefined;
}

/** Checks a path and encodes its parts. Throws an `invalid` failure. */
export function endpointPath(given: string): string {
	const path = given.trim();
	if (path.length > MAX_LENGTH) throw refused(`it is longer than ${MAX_LENGTH} characters`);
	if (!path.startsWith('/')) throw refused('it does not begin with a slash');
	if (path === '/') throw refused('it names no endpoint');
	if (path.includes('//')) throw refused('it has two slashes in a row');
	if (!encodable(path)) throw refused('it has half a character');
	const parts = path.split('/').map((part) => {
		const text = decoded(part);
		const problem = problemOf(text);
		if (problem !== undefined) throw refused(problem);
		return encodeURIComponent(text).replace(PLAIN_IN_PATHS, decodeURIComponent);
	});
	return parts.join('/');
}
