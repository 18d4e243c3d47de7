/** The path that "Task: Create" posts to. */
import { invalid, type FailureError } from '../service/failures';
import { pathProblem } from '../service/pathRule';

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

/** Checks a path and encodes its parts. Throws an `invalid` failure. */
export function endpointPath(given: string): string {
	const path = given.trim();
	if (path.length > MAX_LENGTH) throw refused(`it is longer than ${MAX_LENGTH} characters`);
	if (!path.startsWith('/')) throw refused('it does not begin with a slash');
	if (path === '/') throw refused('it names no endpoint');
	if (path.includes('//')) throw refused('it has two slashes in a row');
	if (/[?#]/.test(path)) throw refused('it has a question mark or a number sign (#)');
	const problem = pathProblem(path);
	if (problem !== undefined) throw refused(`it ${problem}`);
	const parts = path
		.split('/')
		.map((part) => encodeURIComponent(decoded(part)).replace(PLAIN_IN_PATHS, decodeURIComponent));
	return parts.join('/');
}
