/** The test of the credential, for each node that has it: n8n asks the first one that it finds. What it needs is loaded with the first test. */
import type { ICredentialsDecrypted, ICredentialTestFunctions } from 'n8n-workflow';

export const credentialTest = {
	async mediaGenerationApiTest(this: ICredentialTestFunctions, credential: ICredentialsDecrypted) {
		const { testCredential } = await import('./credentialTest');
		return await testCredential(this, credential);
	},
};
