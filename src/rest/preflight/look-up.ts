import { lookup } from "node:dns/promises";

/** Every address of a host, as this machine's own resolver gives them: `/etc/hosts` counts, as it does for requests. */
export async function lookUp(host: string): Promise<readonly string[]> {
	const found = await lookup(host, { all: true });
	return found.map(({ address }) => address);
}
