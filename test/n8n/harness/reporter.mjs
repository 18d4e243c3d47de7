/** A reporter of Node.js's test runner: one line of JSON for each test that is over, suites left out. */
export default async function* reporter(source) {
	const suites = [];
	for await (const { type, data } of source) {
		if (type === 'test:start') {
			suites.length = data.nesting;
			suites.push(data.name);
		}
		if (type !== 'test:pass' && type !== 'test:fail') continue;
		if (data.details?.type === 'suite') continue;
		const { name, nesting, skip } = data;
		const verdict = type === 'test:fail' ? 'failed' : skip === undefined ? 'passed' : 'skipped';
		// The names of the suites around it; the outermost one is the runner's own.
		yield `${JSON.stringify({ suite: suites.slice(1, nesting).join(': '), name, verdict, why: skip })}\n`;
	}
}
