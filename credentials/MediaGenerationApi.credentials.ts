import type {
	ICredentialDataDecryptedObject,
	ICredentialTestRequest,
	ICredentialType,
	IHttpRequestOptions,
	Icon,
	INodeProperties,
} from 'n8n-workflow';
import { credentialProblem } from '../nodes/MediaGeneration/transport/baseUrl';
import { withKey } from '../nodes/MediaGeneration/transport/keyedRequest';

const NOT_THE_SERVICE =
	'The Base URL does not lead to this service, but to a web page or something else. Enter the address of its API, without a version such as /v1';

const onStatus = (value: number, message: string) => ({
	type: 'responseCode',
	properties: { value, message },
});

const onBody = (key: string, value: unknown, message: string) => ({
	type: 'responseSuccessBody',
	properties: { key, value, message },
});

export class MediaGenerationApi implements ICredentialType {
	name = 'mediaGenerationApi';

	displayName = 'Media Generation API';

	icon: Icon = {
		light: 'file:../icons/mediaGeneration.svg',
		dark: 'file:../icons/mediaGeneration.dark.svg',
	};

	documentationUrl =
		'https://github.com/n8n-nodes-media-generation/n8n-nodes-media-generation#first-workflow';

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
				'Address of the service, without a version such as /v1. The API key is sent to this address and nowhere else, whatever "Allowed HTTP Request Domains" says. Plain http is accepted for this machine and private networks only. ECONNREFUSED or ENOTFOUND in the test: nothing answers at this address.',
		},
		{
			displayName: 'Callback Secret',
			name: 'callbackSecret',
			type: 'string',
			typeOptions: { password: true },
			default: '',
			description:
				'Any long random text of at least 16 characters. If set, callback URLs are signed with it and the trigger refuses callbacks without a valid signature. It is never sent anywhere.',
		},
		{
			displayName: 'Key Header',
			name: 'keyHeader',
			type: 'options',
			options: [
				{ name: 'Authorization: Bearer', value: 'authorization' },
				{ name: 'xi-api-key', value: 'xi-api-key' },
			],
			default: 'authorization',
			description:
				'The header that carries the API key. Change it only if the service asks for another one.',
		},
	];

	/**
	 * Attaches the key to requests under the Base URL only: any other request with this credential is refused.
	 * Source: docs/service.md, "Authentication".
	 */
	async authenticate(
		credentials: ICredentialDataDecryptedObject,
		requestOptions: IHttpRequestOptions,
	): Promise<IHttpRequestOptions> {
		const problem = credentialProblem(credentials);
		if (problem !== undefined) throw new Error(problem);
		return withKey(credentials, requestOptions);
	}

	test: ICredentialTestRequest = {
		request: {
			baseURL: '={{$credentials.baseUrl.trim().replace(/\\/+$/, "")}}',
			url: '/v1/credits',
			method: 'GET',
		},
		// Without rules, n8n says only "Unauthorized", and takes any answer with status 200 for a success (`credentials-tester`, n8n 2.41).
		rules: [
			onBody(
				'success',
				false,
				'The service refuses to show the credits of this API key. Copy the key again from the API Keys page of the service',
			),
			// An answer that n8n could not parse as JSON, such as an HTML page, is a string; an empty one is undefined.
			onBody('constructor.name', 'String', NOT_THE_SERVICE),
			onBody('constructor.name', undefined, NOT_THE_SERVICE),
			...[301, 302, 303, 307, 308].map((status) =>
				onStatus(
					status,
					'The Base URL redirects to another address, and the API key is not sent there. Enter the address of the service itself, e.g. with https:// or without "www."',
				),
			),
			onStatus(
				401,
				'The service does not accept this API key: it is invalid, has expired or was revoked. Copy it again from the API Keys page of the service. If the service wants the key in another header, change Key Header',
			),
			onStatus(
				404,
				'There is no such service at the Base URL. Enter its address without a version such as /v1',
			),
			onStatus(
				429,
				'The service accepts no requests with this key at the moment. Its daily limit may be reached. Try again later',
			),
		] as ICredentialTestRequest['rules'],
	};
}
