import { now } from './clock';
import { outputFiles, type OutputFile } from './outputs';
import type { JsonObject, Settings, TaskRecord } from './types';

/** The task as a GET or a callback shows it (docs/service.md, "Resources", "Callbacks" and "Shapes"). */
export function taskPayload(
	task: TaskRecord,
	settings: Settings,
	fileUrl: string,
	withUrls = true,
): JsonObject {
	const base = {
		id: task.id,
		status: task.status,
		progress: task.status === 'done' ? 100 : Math.floor(elapsedShare(task) * 100),
		type: settings.taskTypes[task.kind],
		created_at: new Date(task.createdAt + settings.clockOffsetMs).toISOString(),
		credit_cost: task.cost,
	};
	if (task.status === 'doing') return { ...base, metadata: runningMetadata(task, fileUrl) };
	if (task.status === 'error') return failed(base, task);
	return withUrls
		? finished(base, task, settings, fileUrl)
		: { ...base, metadata: { stage: 'storing' } };
}

/** docs/service.md, "More routes": a callback can be faster than the service's own read of that task. */
export function asRead(task: TaskRecord): TaskRecord {
	const { read_lag_ms: lagMs = 0 } = task.steering;
	const lags = task.finishedAt !== null && now() < task.finishedAt + lagMs;
	return lags ? { ...task, status: 'doing' } : task;
}

/** docs/service.md, "More routes": music can be listened to while it is made, which is not a result. */
function runningMetadata(task: TaskRecord, fileUrl: string): JsonObject {
	return task.kind === 'music' ? { stream_url: `${fileUrl}/stream/${task.id}` } : {};
}

function failed(base: JsonObject, { steering }: TaskRecord): JsonObject {
	const words = steering.error_message ?? 'The generation failed';
	return { ...base, metadata: {}, credit_cost: 0, error_message: words };
}

function finished(
	base: JsonObject,
	task: TaskRecord,
	settings: Settings,
	fileUrl: string,
): JsonObject {
	const url = (file: OutputFile) => `${fileUrl}/files/${task.id}/${file.name}`;
	const files = outputFiles(task, settings);
	const metadata: JsonObject =
		task.kind === 'image'
			? imageMetadata(files, url)
			: task.kind === 'music'
				? musicMetadata(files.map(url))
				: soundMetadata(task, files, url);
	// Found at the root by some.
	if (task.kind === 'voice_isolate')
		return { ...base, output_uri: metadata.audio_url, metadata: {} };
	return { ...base, metadata };
}

/** The clips have the same title as a rule. */
function musicMetadata(urls: string[]): JsonObject {
	const clips = urls.map((audio_url, index) => ({ id: `${index}`, title: 'Clip', audio_url }));
	return { audio_url: urls[0], all_audio_urls: urls, suno_result: { clips } };
}

function imageMetadata(files: OutputFile[], url: (file: OutputFile) => string): JsonObject {
	const mains = files.filter(({ role }) => role === 'main');
	const previews = files.filter(({ role }) => role === 'preview');
	const metadata: JsonObject = {
		result_images: mains.map((file, index) => ({
			id: `${index + 1}`,
			imageUrl: url(file),
			previewUrl: url(previews[index] ?? file),
			mimeType: file.contentType,
			...file.size,
		})),
	};
	if (mains[0]) metadata.audio_url = url(mains[0]);
	return metadata;
}

function soundMetadata(
	task: TaskRecord,
	files: OutputFile[],
	url: (file: OutputFile) => string,
): JsonObject {
	const metadata: JsonObject = {};
	let count = 0;
	for (const file of files) {
		if (file.role === 'srt') metadata.srt_url = url(file);
		else if (file.role === 'json') metadata.json_url = url(file);
		else if (++count > 1) metadata[`variant_${count}_url`] = url(file);
		else {
			metadata.audio_url = url(file);
			if (task.kind === 'sound_effect') metadata.output_uri = url(file);
		}
	}
	return metadata;
}

/** 0 at creation, below 1 until the end. */
function elapsedShare(task: TaskRecord): number {
	const total = task.dueAt - task.createdAt;
	return total > 0 ? Math.min(0.999, (now() - task.createdAt) / total) : 0.999;
}
