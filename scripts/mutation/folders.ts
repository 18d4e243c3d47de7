/** What is mutated together, and the tests that matter for it: the names of files in test/unit and test/engine. */
export interface Folder {
	name: string;
	/** The share of its mutants that its tests have to kill, in percent. */
	mark: number;
	/** Relative to the repository; globs as Stryker takes them. */
	sources: string[];
	unit: string[];
	/** They run for what the unit tests leave alive. */
	engine: string[];
}

const STRICT = 90;
const USUAL = 85;

const of = (folder: string) => [`nodes/MediaGeneration/${folder}/**/*.ts`];
const service = (...names: string[]) =>
	names.map((name) => `nodes/MediaGeneration/service/${name}.ts`);

/** The one way to the service, and what is read of its answers before anything else. */
const DOOR = ['client', 'look', 'redact', 'baseUrl', 'networkError', 'fileHost'];

/** Strict where a wrong decision costs money, loses a task or gives the key away. */
export const folders: readonly Folder[] = [
	{
		name: 'create',
		mark: STRICT,
		sources: of('create'),
		unit: ['creation', 'submit', 'ledger', 'creationQueue', 'patience', 'run'],
		engine: ['creation', 'retryPaysOnce', 'agentTool', 'stop'],
	},
	{
		name: 'wait',
		mark: STRICT,
		sources: of('wait'),
		unit: ['watched', 'poll', 'schedule', 'asleep', 'sleep', 'messages'],
		engine: ['polling', 'strayAnswers'],
	},
	{
		name: 'door',
		mark: STRICT,
		sources: service(...DOOR),
		unit: [
			'client',
			'look',
			'redact',
			'baseUrl',
			'networkError',
			'provenUnsent',
			'requestTime',
			'fileHost',
		],
		engine: ['key', 'throttling', 'totalTime'],
	},
	{
		name: 'service',
		mark: USUAL,
		sources: [...of('service'), ...service(...DOOR).map((file) => `!${file}`)],
		unit: [
			'account',
			'boundedMap',
			'clock',
			'content',
			'failures',
			'limiter',
			'outputs',
			'creationQueue',
			'task',
			'creation',
			'client',
			'submit',
			'poll',
			'messages',
		],
		engine: ['throttling', 'outcomes'],
	},
	{
		name: 'credentials',
		mark: STRICT,
		sources: ['credentials/**/*.ts'],
		unit: ['credential'],
		engine: ['key'],
	},
	{
		name: 'callback',
		mark: STRICT,
		sources: of('callback'),
		unit: ['body', 'once', 'receiveUrl', 'verify', 'confirm', 'receive', 'deliverReceived'],
		engine: ['trigger', 'triggerOnce', 'triggerLever', 'triggerSample', 'webhook', 'callbackUrl'],
	},
	{
		name: 'sleep',
		mark: STRICT,
		sources: of('sleep'),
		unit: ['sleep', 'notes', 'checks', 'suspend', 'wake', 'wakingUp', 'wakeNeverThrows'],
		engine: ['sleepWake', 'sleepSettings', 'sleepMixed', 'asleepInWords'],
	},
	{
		name: 'run',
		mark: USUAL,
		sources: of('run'),
		unit: ['run', 'spending', 'audioJoin', 'pickers', 'laterTries'],
		engine: ['paidOnce', 'spending', 'unclearNamed', 'longText', 'badInput', 'lists', 'joinAudio'],
	},
	{
		name: 'delivery',
		mark: USUAL,
		sources: of('delivery'),
		unit: [
			'delivery',
			'download',
			'files',
			'mimeType',
			'content',
			'messages',
			'joining',
			'nodeError',
			'fileAnswer',
		],
		engine: ['delivery', 'deliveryTrouble', 'splitFiles', 'longText', 'joinAudio'],
	},
	{
		name: 'media',
		mark: USUAL,
		sources: of('media'),
		unit: [
			'media/captions',
			'media/duration',
			'media/join',
			'media/mp3',
			'media/split',
			'media/wav',
		],
		engine: [],
	},
	{
		name: 'operations',
		mark: USUAL,
		sources: [...of('operations'), 'nodes/MediaGeneration/*.node.ts'],
		unit: [
			'description',
			'endpointPath',
			'itemSettings',
			'listRoutes',
			'pickers',
			'read',
			'requests',
			'triggerSettings',
		],
		engine: ['operations', 'anyTask', 'oddValues', 'lists'],
	},
];
