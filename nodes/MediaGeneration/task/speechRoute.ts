/** Speech by voice ID has two routes: v1 of the specification, and a form at v3 if the service asks for it (docs/service.md, "Two speech routes"). */
import type { IDataObject } from 'n8n-workflow';
import { providerPrefix, V1_PROVIDER } from '../actions/voice';
import { readCreation } from '../answers/creation';
import type { CreationRequest } from '../answers/request';
import type { Account, SpeechRoute } from '../transport/account';
import type { ApiRequest, ServiceClient } from '../transport/client';
import type { Reply } from '../answers/reply';
import { saidIn } from '../answers/said';
import { asText, isObject } from '../base/json';

type Wire = Pick<ApiRequest, 'path' | 'qs' | 'body' | 'form' | 'repeated' | 'files'>;

const MOVED = /\bapi v3\b|\/v3\/text-to-speech/i;
/** An answer with one of these statuses created nothing, unless it names a task. */
const REFUSALS = new Set([200, 400, 404, 410, 422]);

const isByVoiceId = ({ kind }: CreationRequest) => kind === 'speech-v1';
const requestVoice = ({ pathFields }: CreationRequest) => asText(pathFields?.voice_id) ?? '';
const isPrefixed = (voice: string) => providerPrefix(voice) !== '';

/** Prefixes the voice ID with its provider's name. */
export function voiceOnV3(request: CreationRequest): string {
	const voice = requestVoice(request);
	return isPrefixed(voice) ? voice : `${V1_PROVIDER}_${voice}`;
}

const OF_V1 = new RegExp(`^(.*/)${V1_PROVIDER}_`);

function wireOf(request: CreationRequest, route: SpeechRoute): Wire {
	const { path, qs, body, form, repeated, files } = request;
	// The v1 route takes the voices of one provider, without that prefix.
	const ownPath = isByVoiceId(request) ? path.replace(OF_V1, '$1') : path;
	if (route === 'v1') return { path: ownPath, qs, body, form, repeated, files };
	const fields = { voice_id: voiceOnV3(request), ...qs, ...withSpeedBeside(body) };
	return { path: '/v3/text-to-speech', body: fields, form: true };
}

/** The v3 route takes the speed beside the voice's other settings. */
function withSpeedBeside({ voice_settings: given, ...body }: IDataObject): IDataObject {
	if (!isObject(given)) return given === undefined ? body : { ...body, voice_settings: given };
	const { speed, ...settings } = given as IDataObject;
	const own = Object.keys(settings).length === 0 ? {} : { voice_settings: settings };
	return { ...(speed !== undefined && { speed }), ...body, ...own };
}

function routesFor(request: CreationRequest, { speechRoute }: Account): SpeechRoute[] {
	if (!isByVoiceId(request)) return ['v1'];
	const isFirstV3 = speechRoute === 'v3' || isPrefixed(requestVoice(request));
	return isFirstV3 ? ['v3', 'v1'] : ['v1', 'v3'];
}

/** Returns whether an answer refuses the request, so that nothing was created, and asks for v3. */
function asksForV3(reply: Reply, request: CreationRequest): boolean {
	if (!reply.answered || !REFUSALS.has(reply.status)) return false;
	const { named, reasons, unparsed } = saidIn(reply, request);
	const isRefused = reply.status !== 200 || (isObject(reply.body) && reply.body.success === false);
	return isRefused && named === undefined && (MOVED.test(reasons) || MOVED.test(unparsed));
}

const isNowhere = (reply: Reply, request: CreationRequest) =>
	reply.answered && reply.status === 404 && saidIn(reply, request).named === undefined;

/**
 * Sends a creation, and again by the other route if the first one refused it in favour of that.
 * @param runEnded aborts when nothing more may be sent
 */
export async function sendByRoute(
	client: ServiceClient,
	request: CreationRequest,
	runEnded: AbortSignal,
): Promise<Reply> {
	const { account } = client;
	const common = { method: 'POST', purpose: 'create', timeoutMs: 120_000 } as const;
	const send = async (route: SpeechRoute) =>
		await client.send({ ...common, ...wireOf(request, route) });
	const [first = 'v1', second] = routesFor(request, account);
	const reply = await send(first);
	const isMoved = first === 'v1' ? asksForV3(reply, request) : isNowhere(reply, request);
	const other =
		second === undefined || !isMoved || runEnded.aborted ? undefined : await send(second);
	// If each route refers to the other, v3 decides.
	const isSecond = other !== undefined && !(second === 'v1' && asksForV3(other, request));
	const [route, answer] = isSecond ? [second ?? first, other] : [first, reply];
	// A refusal proves nothing about a route: its words can be those of a text.
	const isCreated = readCreation(answer, request).kind === 'created';
	if (other !== undefined && isCreated) account.speechRoute = route;
	return answer;
}
