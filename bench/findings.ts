/** What was found behind the numbers, by bench: in words that stay true from run to run. */
export const findings: Record<string, string> = {
	schedule:
		'Found: without progress the mean delay is bought with polls, so the pause grows with the age (10%) and ends at 59 s. Honest progress is trusted after a prediction has ' +
		'come true, and saves 40 to 50% of the polls, at a smaller delay for tasks of up to an hour or two. A prediction that fails costs nothing, as the look that age alone asks for stays where it was. ' +
		'A task that reports honestly up to a half and then ends is the price of trust: no pause is longer than 2.4 times the one that age alone asks for, so such a task lies two to three times as long as ' +
		'one that reports nothing, and honest progress takes 60 polls an hour instead of 40.',
	scale:
		"Found: what a load needs follows from two limits, the service's of active tasks and n8n's of executions that run at once, and hardly from the number of tasks. Up to 60% of the limit in use, queues add " +
		'little; from 80% on, every burst waits. Processes that share a full account learn of free slots only by their own tasks and by asking: the time stays the least possible, but each further process asks ' +
		'in vain, once in five seconds at most.',
	overhead:
		"Found: n8n's request helper, which nodes have to use (proxies, protection against server-side request forgery), takes four times the CPU of a bare request by itself, so the mark " +
		"can't be reached from inside a node. By CPU profiles of both, of what ours takes beyond that helper a third is our code (polling, the ledger, reading answers), a third is the helper's again, which takes more for a " +
		'request that can be stopped and whose whole answer is read, and the rest is an expression for each item, and one line in the log for each paid task, which is there so that no task is lost. Waking the polling loop for every answer, each time with an error and its stack, was a quarter of it and is gone.',
	callbacks:
		'Found by a CPU profile: our part of a callback is 1 ms. n8n 2.41 sets up an isolated expression engine (8 ms and more) for the call, for the credential and for the execution; its own ' +
		'Webhook node alone is exempt from the first and reads no credential. What the trigger has read of the credential therefore serves it and its requests for 5 s, which took it from 0.43 to about half of that node in n8n as it comes. The machine decides about the rest: on another day the same code showed 0.49 and 0.83 without verification, and 0.51 and 0.80 with it. Webhooks of version 1 also have an expression evaluated, therefore the trigger is version 1.1. ' +
		'`N8N_EXPRESSION_ENGINE_LAZY_ACQUIRE=true` makes both nodes several times faster. What is left between them is the engine for the call, and the memory of duplicates, which n8n writes to its database.',
	memory:
		'Found: in filesystem mode both nodes stream. What grows in the first run of a process are its heap and the buffers that wait for the first garbage collections; it differs by 30 MB from process to process, more than ' +
		'the two nodes differ, and later runs grow by a few MB. In database mode n8n itself puts each file into memory as a whole, three to four times over on the way into SQLite, whichever node hands it over: 300 to 500 MB for a file of 100 MB. These nodes let ' +
		'at most 100 MB of files be on their way at once, so four such files need no more than one.',
	short:
		'Found: tasks of a second are over before the first look that a task of unknown length gets. Once some are over, the others are looked at by shares of their time, at 40% of the longest and then every 20%; before that, a ' +
		'thousand such tasks without progress took 1.43 times the least on a virtual clock, and 1.24 since. What is left beside that is CPU time of n8n: 4 ms for each task.',
	crowd:
		'Found on a virtual clock: most questions in vain were asked while all tasks of this process still ran. Now an end that was seen asks (for all that end together), and in between one question in five seconds finds what other ' +
		'processes leave: 1.45 creation requests a task became 1.14, and the 2,000 tasks of the queue-mode load take 1.17 times the least instead of 1.25. What is left are those that were on their way when the first was refused, and one ' +
		'in vain at the end of each round. The real row also has the time that n8n takes to start thirty executions.',
	waking:
		"Found by a CPU profile, and by counting what n8n evaluates: of a wake-up's time, n8n takes most for both nodes: it sets up an isolated expression engine (10 ms; with the setting one for each call, of either node), reads and writes the execution, and runs it on. " +
		'Ours had two more engines, for the credential: what is read of it now serves the webhook and its requests for 5 s. And its expression handed over objects, which the isolated engine copies field by field, with a call to n8n for each. ' +
		'Read as texts they took ours from 0.84 to 1.02 times as n8n comes, and a call for an execution that sleeps on a hundred tasks from 40 ms of expression to 5, on a thousand from 450 ms to 10. What ours has beside the other node, and what is left of the difference with the setting, ' +
		'are one request to the service, as a callback is not believed, and the file, which the other node leaves to somebody else. Rounds of the same code differ by up to a third.',
	batch:
		'Found: a loop of HTTP Request and Wait is as good where all tasks take equally long and the pause happens to fit; with mixed durations every batch waits for its slowest task. ' +
		'One by one it pays the sum of all tasks. Where the service tells no progress, the first of many equal tasks to finish tells when to look at the others, and while tasks wait for slots, those that have one are looked at more often; so are the last of many siblings, as the whole batch waits for them. Twenty mixed tasks took 1.055 times the least on a virtual clock before that, and 1.024 since (means of 60 draws; 1.06 at most), for 1% more looks.',
};
