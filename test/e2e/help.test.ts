import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { program } from "../support/program.ts";

it("help prints a documentation page from the installed package", async () => {
	const { exit, stdout } = await program(["help", "runs"]);
	expect([exit, stdout]).toEqual([0, await readFile(new URL("../../docs/runs.md", import.meta.url), "utf8")]);
});
