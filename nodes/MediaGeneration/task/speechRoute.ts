/** Speech by voice ID has two routes: v1 of the specification, and a form at v3 if the service asks for it (docs/service.md, "Two speech routes"). */
import type { IDataObject } from 'n8n-workflow';
import { providerPrefix, V1_PROVIDER } from '../actions/voice';
import { readCreation, type Creation } from '../answers/creation';
import { ownTextsOf } from '../answers/ownTexts';
import type { CreationRequest } from '../answers/request';
import type { SpeechRoute } from '../transport/account';
import type { ApiRequest, ServiceClient } from '../transport/client';
import { asText, isObject } from '../base/json';

type Wire = Pick<ApiRequest, 'path' | 'qs' | 'body' | 'form' | 'repeated' | 'files'>;

const MOVED = /\bapi v3\b|\/v3\/text-to-speech/i;
const MOVED_STATUSES = new Set([200, 400, 404, 410, 422]);

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

/** Returns whether a creation was refused on one route in favour of the other. */
function isMoved(from: SpeechRoute, creation: Creation): boolean {
	if (creation.kind !== 'refused' || creation.said === undefined) return false;
	const { answer, reasons, unparsed } = creation.said;
	if (from === 'v3') return answer.status === 404;
	return MOVED_STATUSES.has(answer.status) && (MOVED.test(reasons) || MOVED.test(unparsed));
}

/**
 * Sends a creation. If one route refers to the other, the request is sent there too.
 * @param runEnded aborts when nothing more may be sent
 */
export async function sendByRoute(
	client: ServiceClient,
	request: CreationRequest,
	runEnded: AbortSignal,
): Promise<Creation> {
	const { account } = client;
	const own = ownTextsOf(request);
	const common = { method: 'POST', purpose: 'create', own, timeoutMs: 120_000 } as const;
	const send = async (route: SpeechRoute) => {
		const reply = await client.send({ ...common, ...wireOf(request, route) });
		return readCreation(reply, request);
	};
	if (!isByVoiceId(request)) return await send('v1');
	const isFirstV3 = account.speechRoute === 'v3' || isPrefixed(requestVoice(request));
	const [first, second] = isFirstV3 ? (['v3', 'v1'] as const) : (['v1', 'v3'] as const);
	const one = await send(first);
	if (!isMoved(first, one) || runEnded.aborted) return one;
	const other = await send(second);
	// A refusal proves nothing about a route: its words can be those of a text.
	if (other.kind === 'created') account.speechRoute = second;
	// If each route refers to the other, v3 decides.
	return second === 'v1' && isMoved(second, other) ? one : other;
}
