// Ends a process group when the process that started it is gone without having had time to clean up (SIGKILL):
// then this guard's stdin closes. Started by process.ts, which ends it after the group.
const { signalGroup } = require('./group.cjs');

process.stdin.on('close', () => {
	signalGroup(Number(process.argv[2]), 'SIGKILL');
	process.exit();
});
process.stdin.resume();
