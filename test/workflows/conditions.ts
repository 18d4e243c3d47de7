/** What the service is like, and what goes wrong with it. */
import type { FaultAction, FaultRule, RouteName, SettingsPatch } from '../service';
import type { Choices } from './choices';

export function service(random: Choices): SettingsPatch {
	return {
		taskMs: { min: 200, max: random.pick([600, 1500, 3000]) },
		taskShape: random.pick(['root', 'wrapped']),
		refusalStyle: random.pick(['http', 'http', 'insideHttp200']),
		numbersAsStrings: random.chance(0.3),
		activeTaskLimit: random.pick([null, null, null, 2]),
		noUrlLooks: random.pick([0, 0, 0, 2]),
		fileRedirect: random.pick(['none', 'none', 'otherHost']),
		lists: { tasks: random.chance(0.6), tasksLagMs: random.pick([0, 0, 2000]) },
		callbacks: {
			copies: random.pick([1, 1, 2]),
			concurrent: random.chance(0.5),
			drop: random.chance(0.2),
			beforeCreationAnswer: random.chance(0.08),
			retryOn5xx: random.pick([0, 3]),
		},
	};
}

const busy = { success: false, code: 'server_busy', error: 'The server is busy' };

const actions: ReadonlyArray<readonly [RouteName, FaultAction]> = [
	['create', { type: 'processThenReset' }],
	['create', { type: 'processThenStatus', status: 500 }],
	['create', { type: 'html' }],
	['create', { type: 'malformedJson' }],
	['create', { type: 'emptyBody' }],
	['create', { type: 'status', status: 402 }],
	['create', { type: 'status', status: 422 }],
	['create', { type: 'status', status: 500 }],
	['create', { type: 'status', status: 503, body: busy }],
	['create', { type: 'status', status: 429 }],
	['create', { type: 'reset' }],
	['poll', { type: 'status', status: 503, body: busy }],
	['poll', { type: 'status', status: 200, body: busy }],
	['poll', { type: 'status', status: 401 }],
	['poll', { type: 'status', status: 404 }],
	['poll', { type: 'emptyBody' }],
	['poll', { type: 'reset' }],
	['poll', { type: 'html' }],
	['list', { type: 'status', status: 503, body: busy }],
	['list', { type: 'status', status: 200, body: busy }],
	['list', { type: 'html' }],
	['list', { type: 'emptyBody' }],
	['file', { type: 'status', status: 500 }],
	['file', { type: 'truncate', bytes: 300 }],
	['file', { type: 'reset' }],
	['file', { type: 'dropHeader', name: 'content-length' }],
	['credits', { type: 'status', status: 503 }],
];

export function faults(random: Choices): FaultRule[] {
	return Array.from({ length: random.pick([0, 1, 1, 2]) }, () => {
		const [route, action] = random.pick(actions as [(typeof actions)[number]]);
		return { route, action, times: random.between(1, 3), skip: random.between(0, 2) };
	});
}
