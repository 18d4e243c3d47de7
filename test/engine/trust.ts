/** Makes HTTPS clients of this process trust one more certificate, as NODE_EXTRA_CA_CERTS does for a process from its start. */
import tls, { type SecureContextOptions } from 'node:tls';

/** @returns undoes it */
export function trust(certificate: string): () => void {
	const before = tls.createSecureContext;
	tls.createSecureContext = (options?: SecureContextOptions) => {
		const context = before(options);
		(context.context as { addCACert(pem: string): void }).addCACert(certificate);
		return context;
	};
	return () => {
		tls.createSecureContext = before;
	};
}
