import type {
	ICredentialDataDecryptedObject,
	ICredentialType,
	IHttpRequestOptions,
	Icon,
	INodeProperties,
} from 'n8n-workflow';
import { credentialProblem } from '../nodes/MediaGeneration/transport/credentialFields';
import { withKey } from '../nodes/MediaGeneration/transport/keyedRequest';

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
				"Address of the service, without a version such as /v1. The API key is sent to this address and nowhere else, regardless of 'Allowed HTTP Request Domains'. Plain http is accepted for this machine and private networks only.",
		},
		{
			displayName: 'Allow HTTP (Insecure)',
			name: 'allowHttp',
			type: 'boolean',
			default: false,
			description:
				'Whether to accept a Base URL with http for any host, e.g. for a gateway in a network of your own. The API key is then sent unencrypted.',
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
}
