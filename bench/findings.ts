/** What was found behind the numbers, by bench: in words that stay true from run to run. */
export const findings: Record<string, string> = {
	schedule:
		'Found: without progress the mean delay is bought with polls, so the pause grows with the age (10%) and ends at 59 s. Honest progress is trusted after a prediction ' +
		'has come true, and saves 60% of the polls at a smaller delay. A prediction that fails costs nothing, as the look that age alone asks for stays where it was. The row that is ' +
		'lost: a task that reports honestly up to a half and then ends. 40 polls in an hour are so few that such a task must lie longer than one that is looked at 100 times; ' +
		'no pause is longer than 7 minutes because of it.',
	load: "Found: what is needed only by an execution is loaded by the first one; n8n's start loads descriptions alone.",
	overhead:
		"Found: n8n's request helper, which nodes have to use (proxies, protection against server-side request forgery), takes four times the CPU of a bare request by itself, so the mark " +
		"can't be reached from inside a node. By a CPU profile, what is ours is mostly n8n's evaluation of each item's expression and one log line for each paid task, which is there so that no task is " +
		'lost. Waking the polling loop for every answer, each time with an error and its stack, was a quarter of it and is gone.',
	callbacks:
		'Found by a CPU profile: our part of a callback is 1 ms. n8n 2.41 sets up an isolated expression engine (8 ms and more) for the call, for the credential and for the execution; its own ' +
		'Webhook node alone is exempt from the first and reads no credential. Webhooks of version 1 also have an expression evaluated, therefore the trigger is version 1.1. ' +
		'`N8N_EXPRESSION_ENGINE_LAZY_ACQUIRE=true` makes both nodes several times faster. What is left between them is the credential, read from the database, and the memory of duplicates, written to it.',
	waiting:
		'Found: an execution that polls costs little CPU but stays in memory as a running execution of n8n; a suspended one is a row in the database, and looks once in 30 s for the case that its callback gets lost. ' +
		'Two hundred callbacks within seconds are taken as fast as n8n takes webhook calls (about ten a second here), so the last of them wait in line.',
	memory:
		'Found: both nodes stream. What grows in the first run of a process are its heap and the buffers that wait for the first garbage collections; it differs by 30 MB from process to process, more than ' +
		'the two nodes differ, and later runs grow by 4 to 5 MB. Ours came down when chunks were no longer copied and one timer watched a whole body instead of one for each chunk.',
	batch:
		'Found: a loop of HTTP Request and Wait is as good where all tasks take equally long and the pause happens to fit; with mixed durations every batch waits for its slowest task. ' +
		'One by one it pays the sum of all tasks. Where the service shows no progress, the first of many equal tasks to finish shows when to look at the others.',
};
