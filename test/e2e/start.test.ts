import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const DIST = fileURLToPath(new URL("../../dist", import.meta.url));
const STATIC_IMPORT = /^(?:import|\} from|export .* from)(?: [^"]*)? ?"(\.[^"]+)"/gm;

/** The text of a part and of all parts that it imports at once, by their paths. */
async function loadedWith(path: string, loaded = new Map<string, string>()): Promise<ReadonlyMap<string, string>> {
	if (loaded.has(path)) return loaded;
	const text = await readFile(path, "utf8");
	loaded.set(path, text);
	for (const [, specifier = ""] of text.matchAll(STATIC_IMPORT)) {
		await loadedWith(join(dirname(path), specifier), loaded);
	}
	return loaded;
}

it.each(["yaml", "chalk", "ora", "ajv"])("no command loads %s at its start, as few need it", async (name) => {
	const main = (await readdir(join(DIST, "parts"))).find((part) => part.startsWith("main-")) ?? "";
	const parts = await loadedWith(join(DIST, "parts", main));
	const library = `// node_modules/${name}/`;

	expect(parts.size).toBeGreaterThan(3);
	expect([...parts].filter(([, text]) => text.includes(library)).map(([path]) => path)).toEqual([]);
});
