// Ends a process group when the process that started it is gone without having had time to clean up (SIGKILL):
// then this guard's stdin closes. Started by process.ts, which ends it after the group.
process.stdin.on('close', () => {
	try {
		process.kill(-Number(process.argv[2]), 'SIGKILL');
	} catch {
		// Already gone.
	}
	process.exit();
});
process.stdin.resume();
