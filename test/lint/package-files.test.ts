import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const SOURCES = fileURLToPath(new URL("../../src", import.meta.url));

it("one file alone reads from the package's folder: the executable has no such folder", async () => {
	const entries = await readdir(SOURCES, { recursive: true, withFileTypes: true });
	const readers: string[] = [];
	for (const entry of entries.filter((each) => each.isFile())) {
		const text = await readFile(join(entry.parentPath, entry.name), "utf8");
		if (text.includes("import.meta")) readers.push(entry.name);
	}
	expect(readers).toEqual(["help.ts"]);
});
