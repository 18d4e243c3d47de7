/** Reads a credential where n8n's own reading does not do. */
import type { ICredentialDataDecryptedObject, IExecuteFunctions } from 'n8n-workflow';

/** Not part of n8n's interface; older versions lack it (`Expression.withIsolate`, n8n-workflow 2.41). */
interface HavingIsolate {
	workflow?: { expression?: { withIsolate?<T>(act: () => Promise<T>): Promise<T> } };
}

/** Reads what can have expressions: once an execution sleeps, or a webhook has answered, n8n 2.41 evaluates them in an isolate only if asked for one. */
export async function evaluating<T>(context: object, read: () => Promise<T>): Promise<T> {
	const expression = (context as HavingIsolate).workflow?.expression;
	return await read().catch(async (error: unknown) => {
		if (expression?.withIsolate === undefined) throw error;
		return await expression.withIsolate(read);
	});
}

type Decrypted = ICredentialDataDecryptedObject | undefined;

/** This is not part of n8n's interface either. `isRaw` leaves expressions unresolved (`CredentialsHelper.getDecrypted`, n8n 2.41). */
interface Decrypting {
	additionalData?: {
		credentialsHelper?: {
			getDecrypted(...given: [...unknown[], isRaw: true]): Promise<Decrypted>;
		};
	};
}

/** Returns the node's credential as stored, with its expressions; undefined if n8n doesn't give it. */
export async function storedCredential(
	context: IExecuteFunctions,
	type: string,
): Promise<Decrypted> {
	const { additionalData } = context as Decrypting;
	const helper = additionalData?.credentialsHelper;
	if (helper === undefined) return undefined;
	const used = context.getNode().credentials?.[type];
	const mode = context.getMode();
	return await helper
		.getDecrypted(additionalData, used, type, mode, undefined, true)
		.catch(() => undefined);
}
