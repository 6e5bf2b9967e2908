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
 * Every machine computes it from its own settings, so no further secret is needed. The name does not reveal the key. A reader
 * of Redis can still guess keys and compare. The address is the salt, so a table made in advance does not help, and scrypt
 * makes each guess slow. A random key, as services make them, can't be guessed.
 */
export async function nameOfCap(baseUrl: string, key: string): Promise<string> {
	const name = await derive(key, `ragtag shared limiter\n${baseUrl}`, NAME_BYTES, COST);
	return name.toString("hex");
}
