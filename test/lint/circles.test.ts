import { readdir, readFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const SOURCES = fileURLToPath(new URL("../../src", import.meta.url));
const IMPORT = /(?:from\s+|import\()"(\.[^"]+)"/g;

type Import = { readonly from: string; readonly to: string };

/** Two sibling folders and the imports between them, by the folder that they share. */
export function circles(imports: readonly Import[]): string[] {
	const edges = new Set<string>();
	for (const { from, to } of imports) {
		const one = from.split("/");
		const other = to.split("/");
		let shared = 0;
		while (one[shared] === other[shared] && shared < Math.min(one.length, other.length) - 1) shared += 1;
		// A file that lies beside folders is nobody's sibling: it may use them, and they may use it.
		if (one.length - 1 === shared || other.length - 1 === shared) continue;
		edges.add(`${one.slice(0, shared + 1).join("/")} -> ${other.slice(0, shared + 1).join("/")}`);
	}
	return [...edges].filter((edge) => edges.has(edge.split(" -> ").toReversed().join(" -> "))).toSorted();
}

async function importsOf(folder: string): Promise<Import[]> {
	const found: Import[] = [];
	for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
		if (!entry.isFile() || !entry.name.endsWith(".ts")) continue;
		const path = join(entry.parentPath, entry.name);
		for (const [, specifier = ""] of (await readFile(path, "utf8")).matchAll(IMPORT)) {
			found.push({ from: relative(folder, path), to: relative(folder, resolve(dirname(path), specifier)) });
		}
	}
	return found;
}

describe("sibling folders", () => {
	it("do not import each other in a circle: neither could be read without the other", async () => {
		const imports = await importsOf(SOURCES);

		expect(imports.length).toBeGreaterThan(1_000);
		expect(circles(imports)).toEqual([]);
	});

	it("are found where they do, types alone included", () => {
		const there = { from: "run/rate/limiter.ts", to: "run/retry/policy.ts" };
		const back = { from: "run/retry/request.ts", to: "run/rate/cooldown.ts" };

		expect(circles([there, back])).toEqual(["run/rate -> run/retry", "run/retry -> run/rate"]);
		expect(circles([there, { from: "run/types.ts", to: "run/rate/limiter.ts" }])).toEqual([]);
	});
});
