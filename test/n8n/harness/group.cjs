const { execFileSync } = require('node:child_process');

/** A process and its children, where a group can't be signalled: whether it lives (0), or its end by Windows' own tool. */
function signalTree(pid, signal, run) {
	if (signal === 0) return process.kill(pid, 0);
	// There are no signals to ask it by, so it ends at once, and its children with it.
	run('taskkill', ['/pid', String(pid), '/t', '/f'], { stdio: 'ignore' });
	return true;
}

/** Sends a signal to a process group, or 0 to see whether it is there. Returns whether there was something to signal. */
function signalGroup(group, signal, { platform = process.platform, run = execFileSync } = {}) {
	try {
		if (platform === 'win32') return signalTree(group, signal, run);
		return process.kill(-group, signal);
	} catch {
		return false;
	}
}

module.exports = { signalGroup };
