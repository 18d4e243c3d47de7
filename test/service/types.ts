/** The names that tests, benches and the control interface share, and what each value does. */

/** Which creation route made the task. The task's own `type` field is the setting `taskTypes`. */
export type TaskKind =
	'sound_effect' | 'speech_by_id' | 'speech_by_name' | 'image' | 'music' | 'dialogue' | FileKind;
/** Those that are made of a file. */
export type FileKind = 'dubbing' | 'transcription' | 'voice_changer' | 'voice_isolate';

/** `specification`: what the specification states (docs/service.md). `today`: what was read of newer services. */
export type ProfileName = 'specification' | 'today';

export type HostName = 'api' | 'files' | 'other';
export type RouteName =
	'create' | 'poll' | 'credits' | 'keys' | 'list' | 'delete' | 'price' | 'file' | 'unknown';
export type JsonObject = Record<string, unknown>;

/** Completion callbacks (docs/service.md, "Callbacks"). */
export interface CallbackSettings {
	/** How often each callback is sent: all at once, or one after another. */
	copies: number;
	concurrent: boolean;
	/** The task ends at once and its callback is delivered before the creation is answered. */
	beforeCreationAnswer: boolean;
	/** How many more times a callback is sent that was answered 5xx, or not at all. */
	retryOn5xx: number;
	retryDelayMs: number;
	drop: boolean;
}

/** Which lists the service publishes (docs/service.md, "More routes"). */
export interface ListSettings {
	/** `GET /v1/tasks`: all tasks of the account, whichever key made them. */
	tasks: boolean;
	/** A task is listed that long after its creation. */
	tasksLagMs: number;
	/** How a listed task says when it was made; `local` is the time of a zone that it does not name. */
	times: 'ISO' | 'none' | 'another name' | 'local';
}

/** Live and mutable: the next request sees a change. */
export interface Settings {
	/** How long a task takes; between two times by the seed. */
	taskMs: number | { min: number; max: number };
	/** The balance itself: creations lower it, refunds raise it. */
	credits: number;
	/** Price of a task; images cost it once a picture. */
	costs: Record<TaskKind, number>;
	lists: ListSettings;
	/** How far the service's clock is ahead of ours, as the Date header and created_at show. */
	clockOffsetMs: number;
	/** `wrapped`: a poll is answered `{success, data: task}`. */
	taskShape: 'root' | 'wrapped';
	/** Creation answers carry their numbers as strings (docs/service.md, "Shapes"). */
	numbersAsStrings: boolean;
	/** `insideHttp200`: `{success: false, message}` with 200; an invalid key stays 401. */
	refusalStyle: 'http' | 'insideHttp200';
	/** Where speech by voice ID is made. With `v3`, a form whose voice IDs begin with a provider, the v1 route refuses. */
	speechRoute: 'v1' | 'v3';
	/** Whether there are music, dialogue, tasks made of a file, forms for images, deletion and prices, and keys in `xi-api-key`. */
	moreRoutes: boolean;
	/** The `type` of a task. */
	taskTypes: Record<TaskKind, string>;

	/** Beyond it, 429 with the code `active_task_limit`, and nothing is created. */
	activeTaskLimit: number | null;

	/** For how many GETs of the task it is done, but without any URL (docs/service.md, "Status"). */
	noUrlLooks: number;
	/** If the request names no `output_format`. `mp3_vbr`: MP3 whose bit rate varies. Each text has a tone of its own, as long as the text. */
	audioFormat: AudioFormat;
	/** `otherHost`: 302 to the third host. */
	fileRedirect: 'none' | 'otherHost';

	callbacks: CallbackSettings;
}

export type AudioFormat = 'wav' | 'mp3' | 'mp3_vbr';
export type SampleRate = 8000 | 11025 | 12000 | 16000 | 22050 | 24000 | 32000 | 44100 | 48000;

/** Partial on every level: what `startService` takes. */
export type SettingsPatch = Partial<
	Omit<Settings, 'callbacks' | 'costs' | 'lists' | 'taskTypes'>
> & {
	lists?: Partial<ListSettings>;
	callbacks?: Partial<CallbackSettings>;
	costs?: Partial<Record<TaskKind, number>>;
	taskTypes?: Partial<Record<TaskKind, string>>;
};

/** `stand_in` in a creation's body steers that one task. */
export interface Steering {
	/** An example of test/answers, such as "creation/daily-cap" or "task/wrapped": what the creation, or each poll, is answered with. */
	answer?: string;
	ms?: number;
	never_ends?: boolean;
	end?: 'done' | 'error';
	error_message?: string;
	/** Credits; the default is that of its kind. */
	cost?: number;
	/** A GET shows the finished task as running for so long: callbacks are ahead of the service's own reads. */
	read_lag_ms?: number;
	/** How many output files; for images it goes before `generations_count`. */
	files?: number;
	/** Size of each output file; generated while it is sent. */
	bytes?: number;
	file_status?: number;
	/** The output files' content, word for word. */
	file_body?: string;
	no_callback?: boolean;
	callback_copies?: number;
	callback_before_answer?: boolean;
}

export interface TaskRecord {
	id: string;
	kind: TaskKind;
	/** The creation's body as it came; of a form its fields, and its files by their names. */
	body: JsonObject;
	/** Path parameter and query of the v1 speech route. */
	params: { voice_id?: string; output_format?: string };
	steering: Steering;
	receiveUrl: string | null;
	/** ms since the epoch; `dueAt` is Infinity for a task that never ends. */
	createdAt: number;
	dueAt: number;
	finishedAt: number | null;
	status: 'doing' | 'done' | 'error';
	cost: number;
	refunded: boolean;
	deleted: boolean;
	polls: number;
	/** GETs answered since the task was done. */
	doneLooks: number;
}

export interface RecordedRequest {
	time: number;
	host: HostName;
	method: string;
	url: string;
	route: RouteName;
	kind: TaskKind | null;
	taskId: string | null;
	headers: Record<string, string | string[] | undefined>;
	/** Parsed JSON, a `Form`, or the text where it is neither. */
	body: unknown;
	/** 0 = not answered (yet), -1 = connection destroyed. */
	status: number;
	/** Type of the fault that struck. */
	fault: FaultAction['type'] | null;
}

export interface CallbackRecord {
	taskId: string;
	url: string;
	at: number;
	/** 0 = no answer. */
	status: number;
	body: string;
}

/**
 * `status`, `reset` and `stall` stand in place of the service, which does nothing, and so does `redirect` (`{other}` in its target is filled in). All
 * others carry the request out first, so that a creation makes a task that was paid for. `processThenStatus` answers the same as `status`.
 */
export type FaultAction =
	| {
			type: 'status' | 'processThenStatus';
			status: number;
			body?: unknown;
			headers?: Record<string, string>;
	  }
	| { type: 'reset' | 'processThenReset' | 'stall' | 'drip' }
	| { type: 'hold'; until: Promise<unknown> }
	| { type: 'emptyBody' | 'html' | 'malformedJson' }
	| { type: 'redirect'; to: string }
	| { type: 'truncate'; bytes: number }
	| { type: 'dropHeader'; name: string };

export interface FaultRule {
	/** How often it has struck; counted by the stand-in. */
	hits?: number;
	host?: HostName;
	kind?: TaskKind;
	route?: RouteName;
	times?: number;
	skip?: number;
	action: FaultAction;
}

export interface ServiceOptions {
	port?: number;
	/** `specification`, unless given; `settings` come on top of it. */
	profile?: ProfileName | undefined;
	settings?: SettingsPatch;
	seed?: number;
	/** A random one if not given. */
	apiKey?: string;
}
