/** Two ways in which an execution sleeps until it is called: n8n's own Wait node, and ours. */
import { base, type Node } from '../test/n8n/harness/nodes';
import type { StandIn } from '../test/service';
import type { Post } from './posting';
import { generate, request } from './workflows';

export interface SleepingWay {
	label: string;
	path: string;
	nodes(service: StandIn): Node[];
	/** For executions that sleep, since the stand-in was reset; the tasks of ours are over by then. */
	calls(service: StandIn): Post[] | Promise<Post[]>;
}

/** Its request has the credential, as one that creates a task: n8n reads that with each run of the workflow. */
export const waitWay: SleepingWay = {
	label: "n8n's Wait node, on webhook call",
	path: 'wait',
	nodes: ({ baseUrl }) => [
		request('Tell', {
			url: `=${baseUrl}/v1/credits?wake={{ encodeURIComponent($execution.resumeUrl) }}`,
			authentication: 'predefinedCredentialType',
			nodeCredentialType: 'mediaGenerationApi',
		}),
		{
			...base('Wait', ['wait', 1.1], { resume: 'webhook', httpMethod: 'POST', options: {} }),
			webhookId: 'sleepers-wait',
		},
	],
	calls: ({ requests }) => {
		const urls = requests.map(({ url }) => new URL(url, 'http://any').searchParams.get('wake'));
		return urls.flatMap((url) => (url ? [{ url, body: '{}' }] : []));
	},
};

export const ourWay: SleepingWay = {
	label: 'ours, Suspend',
	path: 'ours',
	nodes: () => [generate({ waitMode: 'callback' }, { gracePeriod: 0 })],
	calls: async (service) =>
		await Promise.all(
			service.creations().map(async ({ id, receiveUrl }) => {
				await service.finish(id);
				return { url: receiveUrl ?? '', body: JSON.stringify(service.payload(id)) };
			}),
		),
};

/** The execution that a resume URL wakes. */
export const executionOf = (url: string): string =>
	/\/webhook-waiting\/([^/?]+)/.exec(url)?.[1] ?? '';
