import type {
	ICredentialDataDecryptedObject,
	ICredentialTestRequest,
	ICredentialType,
	IHttpRequestOptions,
	Icon,
	INodeProperties,
} from 'n8n-workflow';
import {
	apiKeyProblem,
	baseUrlProblem,
	normalizeBaseUrl,
} from '../nodes/MediaGeneration/service/baseUrl';

/** The address that a request goes to, with `baseURL` and `url` put together as n8n's helper does it. */
function targetOf({ baseURL, url }: IHttpRequestOptions): URL {
	return baseURL === undefined || /^https?:\/\//i.test(url)
		? new URL(url)
		: new URL(`${baseURL.replace(/\/+$/, '')}/${url.replace(/^\/+/, '')}`);
}

export class MediaGenerationApi implements ICredentialType {
	name = 'mediaGenerationApi';

	displayName = 'Media Generation API';

	icon: Icon = {
		light: 'file:../icons/mediaGeneration.svg',
		dark: 'file:../icons/mediaGeneration.dark.svg',
	};

	documentationUrl =
		'https://github.com/n8n-nodes-media-generation/n8n-nodes-media-generation#credential';

	properties: INodeProperties[] = [
		{
			displayName: 'API Key',
			name: 'apiKey',
			type: 'string',
			typeOptions: { password: true },
			required: true,
			default: '',
			placeholder: 'e.g. sk_...',
			description: 'A key from the API Keys page of the service. It starts with "sk_".',
		},
		{
			displayName: 'Base URL',
			name: 'baseUrl',
			type: 'string',
			required: true,
			default: '',
			placeholder: 'e.g. https://api.example.com',
			description:
				'Address of the service, without a path version. The API key is sent to this address and nowhere else. Plain http is accepted for this machine and private networks only.',
		},
		{
			displayName: 'Callback Secret',
			name: 'callbackSecret',
			type: 'string',
			typeOptions: { password: true },
			default: '',
			description:
				'Any long random text. If set, callback URLs are signed with it and the trigger refuses callbacks without a valid signature. It is never sent anywhere.',
		},
	];

	/**
	 * Attaches the key, and only to requests under the base URL: whatever else asks for this credential is refused.
	 * Source: spec, Authentication 1.
	 */
	async authenticate(
		credentials: ICredentialDataDecryptedObject,
		requestOptions: IHttpRequestOptions,
	): Promise<IHttpRequestOptions> {
		const problem = baseUrlProblem(credentials.baseUrl) ?? apiKeyProblem(credentials.apiKey);
		if (problem !== undefined) throw new Error(problem);
		const { apiKey, baseUrl } = credentials as { apiKey: string; baseUrl: string };
		const base = new URL(normalizeBaseUrl(baseUrl));
		const target = targetOf(requestOptions);
		const underBase =
			target.origin === base.origin &&
			`${target.pathname}/`.startsWith(`${base.pathname.replace(/\/+$/, '')}/`);
		if (!underBase) {
			throw new Error(
				`The API key of this credential is sent to ${base.origin} only, not to ${target.origin}. Use an address under the Base URL.`,
			);
		}
		return {
			...requestOptions,
			// n8n would send the header along on redirects to other hosts.
			disableFollowRedirect: true,
			sendCredentialsOnCrossOriginRedirect: false,
			headers: { ...requestOptions.headers, Authorization: `Bearer ${apiKey}` },
		};
	}

	test: ICredentialTestRequest = {
		request: {
			baseURL: '={{$credentials.baseUrl.trim().replace(/\\/+$/, "")}}',
			url: '/v1/credits',
			method: 'GET',
		},
		// n8n would say no more than "Unauthorized".
		rules: [
			{
				type: 'responseCode',
				properties: {
					value: 401,
					message:
						'The service does not accept this API key: it is invalid, has expired or was revoked. Copy it again from the API Keys page of the service',
				},
			},
			{
				type: 'responseCode',
				properties: {
					value: 404,
					message:
						'There is no such service at the Base URL. Enter its address without a version such as /v1',
				},
			},
			{
				type: 'responseCode',
				properties: {
					value: 429,
					message:
						'The service takes no requests with this key at the moment: its daily limit may be reached. Try again later',
				},
			},
		],
	};
}
