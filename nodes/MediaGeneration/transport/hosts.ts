/** Which hosts are this machine's or a private network's, and which of them may be asked for a file. */

/** Addresses of this machine, of private or shared networks, for multicast, or without use on the public internet (RFC 6890). */
const PRIVATE_IPV4 = [
	/^(0|10|127|22[4-9]|2[34]\d|25[0-5])\./,
	/^(169\.254|168\.63\.129|192\.168|192\.0\.0|192\.88\.99|198\.1[89])\./,
	/^100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7])\./,
	/^172\.(1[6-9]|2\d|3[01])\./,
];

/** Contain an IPv4 address, public or private: mapped, NAT64, Teredo and 6to4. */
const IPV4_INSIDE = /^\[?(::ffff:|64:ff9b:|2001:0?:|2002:)/;
/** Global unicast. All other ranges are local, multicast or reserved. */
const PUBLIC_IPV6 = /^[23][\da-f]{3}:/;

/** Addresses at which clouds tell a machine its secrets, and others that no router passes on. */
const LINK_LOCAL =
	/^(169\.254\.|168\.63\.129\.16$|100\.100\.100\.200$|(metadata\.google|instance-data\.ec2)\.internal$|\[(fe[89ab]|fd00:ec2:|fd20:ce:|.*:(a9fe:|a83f:8110|6464:64c8)))/;
/** Names that clusters and companies use inside. They count for files only: a Base URL with such a name and http needs 'Allow HTTP'. */
const INSIDE = /\.(svc|consul|default|prod|corp|intranet|private|home|test)$|^fritz\.box$/;

/** Returns a host without the dot that may end it. Undefined if it is longer than a name can be (RFC 1035, 2.3.4), or ends with more dots. */
export function hostOf({ hostname }: URL): string | undefined {
	const host = hostname.endsWith('.') ? hostname.slice(0, -1) : hostname;
	return host === '' || host.length > 253 || host.endsWith('.') ? undefined : host;
}

/** Returns whether a host means this machine or a private network. Names with a single label are those of containers. */
export function isPrivateHost(url: URL): boolean {
	const host = hostOf(url)?.replace(/^\[|\]$/g, '');
	if (host === undefined) return true;
	if (host.includes(':')) return !PUBLIC_IPV6.test(host) || IPV4_INSIDE.test(host);
	if (/^\d+\.\d+\.\d+\.\d+$/.test(host)) return PRIVATE_IPV4.some((range) => range.test(host));
	return !host.includes('.') || /\.(local(host|domain)?|internal|lan|home\.arpa)$/.test(host);
}

/** Returns whether requests to a host surely stay in private networks. An IPv4 address inside an IPv6 one can be public. */
export const staysPrivate = (url: URL): boolean =>
	isPrivateHost(url) && !IPV4_INSIDE.test(url.hostname);

const isInside = (url: URL) => isPrivateHost(url) || INSIDE.test(hostOf(url) ?? '');

/** Says why no file is asked for at an address: no private host may serve a file of a public service. Undefined if it may be asked. */
export function fileHostProblem(address: URL, baseUrl: URL | undefined): string | undefined {
	const host = hostOf(address);
	if (host === undefined) return 'its address has a host that is no name';
	if (LINK_LOCAL.test(host)) return `its address (${host}) is one that no file host has`;
	const isOfOwn = baseUrl !== undefined && isInside(baseUrl);
	return isInside(address) && !isOfOwn
		? `its address (${host}) is in a private network, and the service is not`
		: undefined;
}
