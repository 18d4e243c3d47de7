/** What was found behind the numbers, by bench: in words that stay true from run to run. */
export const findings: Record<string, string> = {
	schedule:
		"Found: without progress, a smaller delay costs more polls, so the pause grows with the task's age (10%), up to 59 s. Reported progress is trusted once a prediction from it has come true; it saves 40 " +
		'to 50% of the polls, and shortens the delay for tasks of up to one or two hours. A wrong prediction costs nothing, as the poll that age alone asks for stays where it was. The price of trust is a task ' +
		'that reports true progress up to a half and then ends: no pause exceeds 2.4 times the one by age, so its end is seen two to three times as late as without progress, and an hour of true progress takes ' +
		'60 polls instead of 40.',
	scale:
		"Found: what a load needs depends on two limits, the service's active tasks and n8n's concurrent executions, and hardly on the number of tasks. Up to 60% of the limit, queues add little; from 80% on, " +
		'every burst waits. Processes that share a full account learn of free slots only from their own tasks and from rejected requests: the time stays minimal, but each further process adds up to one ' +
		'rejected request every five seconds.',
	overhead:
		"Found: n8n's request helper, which nodes have to use (proxies, protection against server-side request forgery), alone takes four times the CPU of a bare request, so no node can reach the mark. " +
		'Profiles found two costs of ours that are gone: each created task added up the costs of all before it (a seventh of the time of a run of 4,000 tasks), and each poll that ended restarted the loop. ' +
		"The largest parts of what is left beyond the helper belong to n8n: evaluating each item's expression (a sixth), and the log line for each paid task (a ninth), for which its logger reads the caller's " +
		'stack; the line is what is left of a task whose process dies. Ours are small and many: choosing the due polls and telling siblings (a tenth), streamed answers with a limit on their size, time limits ' +
		'that can be cut short and reading which files a task names (a twenty-fifth each), the ledger.',
	loop:
		'Found: planning, preparing, splitting, captions, joining and cleaning the output each ran in one piece, of up to 377 ms of CPU time. They now give way after 15 ms, and what follows long work begins ' +
		"in a turn of its own. The longest turns that are left are bursts of requests and answers in n8n's helper. The figures include what n8n itself does between two turns.",
	callbacks:
		'Found by a CPU profile: our part of a callback is 1 ms. n8n 2.41 sets up an isolated expression engine (8 ms or more) for the call, for the credential and for the execution; its own Webhook node is ' +
		"exempt from the first and reads no credential. So the trigger caches the credential for 5 s, which took it from 0.43 to about half of that node's rate in n8n with default settings. The machine " +
		'matters, too: on another day the same code reached 0.49 and 0.83 without verification, and 0.51 and 0.80 with it. For webhooks of version 1, n8n also evaluates an expression, so the trigger is version ' +
		'1.1. `N8N_EXPRESSION_ENGINE_LAZY_ACQUIRE=true` makes both nodes several times faster. The remaining difference is the engine for the call, and the memory of duplicates, which n8n writes to its ' +
		'database.',
	memory:
		'Found: in filesystem mode both nodes stream. The first run of a process grows by its heap and by buffers that wait for the first garbage collections; that differs by 30 MB from process to process, ' +
		'and later runs grow by a few MB. Over seven processes each, the median for 100 files of 3 MB was 68 MB (45 to 74) with these nodes and 53 MB (41 to 64) with the HTTP Request node. The same 100 tasks ' +
		'without their files took 66 MB (48 to 69, four processes): where it is more, it is for creating and polling 100 tasks, which the other node does not do; their files add next to nothing. In database mode ' +
		'n8n itself puts each whole file into memory, three to four times on the way into SQLite, whichever node delivers it: 300 to 500 MB for a file of 100 MB. These nodes cap concurrent downloads at 100 MB, ' +
		'so four such files need no more than one.',
	short:
		'Found: tasks of a second end before the first poll of a task of unknown length. Once some have ended, the others are polled at shares of their time: at 40% of the longest, then every 20%. On a virtual ' +
		'clock, that took a thousand such tasks without progress from 1.43 to 1.24 times the theoretical minimum. The rest is CPU time of n8n: 4 ms for each task.',
	crowd:
		'Found on a virtual clock: thirty executions that start at the same moment sent nearly all their creations before the first answer, 1.91 a task. Now ten are under way at first, and one more for every ' +
		'four that are answered with a task; the rest wait for an answer, for three seconds at most: 1.15 a task in the same time. Once the account is full, a task that ends prompts a request, and one request ' +
		'every five seconds finds slots that other processes leave. The row from a real n8n includes the time that n8n takes to start thirty executions.',
	waking:
		"Found by a CPU profile, and by counting what n8n evaluates: n8n takes most of a wake-up's time for both nodes, as it sets up an isolated expression engine (10 ms; with the setting one per call for " +
		'either node), reads and writes the execution, and runs it on. Ours had two more engines, for the credential, which the webhook now caches for 5 s. Its expression also returned objects, which the ' +
		"isolated engine copies field by field, with a call to n8n for each. Returned as text, they took ours from 0.84 to 1.02 times the Wait node's rate with default settings, and a call for an execution " +
		'that sleeps on a hundred tasks from 40 ms of expression to 5, on a thousand from 450 ms to 10. A callback used to be answered before the files were fetched: calls were let in faster ' +
		'than executions ended, and all ended late, after 10.2 s in the mean. Now n8n answers when it has taken the items, as for its own node, and they end in turn. The remaining difference is one request ' +
		'to the service, as a callback is not trusted, and the file, which the other node does not fetch. Rounds of the same code differ by up to a third.',
	processes:
		"Found: a woken execution waits in n8n's queue behind all that were there before, whichever node put it to sleep. Each callback has n8n read the whole execution, so five tasks cost five such " +
		'readings, and the last of them wakes it. Where n8n finds no free connection to PostgreSQL within 20 s, it overwrites the execution as failed; that is why a process handles four such calls at once.',
	batch:
		'Found: a loop of HTTP Request and Wait is as good where all tasks take equally long and the pause happens to fit; with mixed durations each batch waits for its slowest task. One by one, it takes the ' +
		'sum of all tasks. Where the service reports no progress, the first of many equal tasks to end sets when the others are polled. While tasks wait for slots, running ones are polled more often, and so ' +
		'are the last of many siblings, as the whole batch waits for them: that took twenty mixed tasks from 1.055 to 1.024 times the theoretical minimum on a virtual clock (means of 60 draws; 1.06 at most), ' +
		'for 1% more polls.',
};
