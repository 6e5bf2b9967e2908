import { scrypt } from "node:crypto";
import { promisify } from "node:util";

/** Bytes of the name: runs of different services do not meet. */
const NAME_BYTES = 12;

/** Memory of one computation is 128 × N × r bytes, 16 MB; it takes some 50 ms. */
const COST = { N: 2 ** 14, r: 8, p: 1 };

const derive = promisify<string, string, number, typeof COST, Buffer>(scrypt);

/**
 * The name in Redis of the cap of one service and one key.
 *
 * Every machine computes it from what it has, so no further secret is needed, and nobody can read the key from it. Whoever
 * reads Redis may still guess keys and compare: the address is the salt, so a table made in advance is of no use, and scrypt
 * makes each guess slow. A key that a service has made, which is random, is out of reach.
 */
export async function nameOfCap(baseUrl: string, key: string): Promise<string> {
	const name = await derive(key, `ragtag shared limiter\n${baseUrl}`, NAME_BYTES, COST);
	return name.toString("hex");
}
