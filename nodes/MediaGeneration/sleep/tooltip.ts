/**
 * What the editor says of a node whose execution sleeps: for how many tasks, and until when. The editor evaluates an expression of
 * the node's description, which sees nothing of the execution but the resume URL that the node leaves in the run's metadata. So the
 * numbers travel in that URL's fragment, which is never sent anywhere.
 */

interface Sleeping {
	tasks: number;
	/** Epoch ms. */
	deadline: number;
}

/** The numbers for {@link waitingTooltip}, as the fragment of the resume URL in the run's metadata. */
export function tooltipFragment({ tasks, deadline }: Sleeping): string {
	return `tasks=${tasks}&until=${Math.round(deadline)}`;
}

/** For the node's description. The time is in the reader's own zone and notation. */
export const waitingTooltip = `={{ ((found) => found
	? "Asleep until " + (found[1] === "1" ? "its task is" : "its " + found[1] + " tasks are") + " over, or until " + new Date(Number(found[2])).toLocaleString() + " at the latest"
	: "Asleep until its tasks are over")(/#tasks=(\\d+)&until=(\\d+)$/.exec($execution.resumeUrl)) }}`;
