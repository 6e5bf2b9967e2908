import { createReadStream } from "node:fs";

/**
 * The lines of a file of our own, divided at line feeds alone. `node:readline` divides at U+2028 and U+2029 as well from
 * Node 24 on, and those stand unescaped in JSON.
 */
export async function* textLines(path: string): AsyncGenerator<string> {
	// Pieces of a line that is longer than a chunk are joined once.
	let pieces: string[] = [];
	const chunks: AsyncIterable<unknown> = createReadStream(path, { encoding: "utf8" });
	for await (const chunk of chunks) {
		const [first = "", ...others] = String(chunk).split("\n");
		pieces.push(first);
		for (const line of others) {
			yield pieces.join("");
			pieces = [line];
		}
	}
	const last = pieces.join("");
	if (last !== "") yield last;
}
