import { mkdir, open, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { writeWhole } from "../src/write-whole.ts";
import { folder } from "./support/service.ts";

it("a reader that has the old file open still reads all of it, and the next one reads the new file", async () => {
	const path = join(await folder(), "ragtag.prom");
	await writeFile(path, "old".repeat(1_000));
	const reader = await open(path);
	await writeWhole(path, "new");
	expect(await reader.readFile("utf8")).toBe("old".repeat(1_000));
	await reader.close();
	expect(await readFile(path, "utf8")).toBe("new");
});

it("what can't be written leaves the old state and no temporary file", async () => {
	const parent = await folder();
	const path = join(parent, "ragtag.prom");
	await mkdir(join(path, "inner"), { recursive: true });
	await expect(writeWhole(path, "new")).rejects.toThrow(/EISDIR|ENOTEMPTY|EEXIST/);
	expect(await readdir(parent)).toEqual(["ragtag.prom"]);
	expect(await readdir(path)).toEqual(["inner"]);
});
