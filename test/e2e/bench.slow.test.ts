import { execFile } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { isExecutable } from "../support/program.ts";
import { parseLines } from "../support/values.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const bench = (...args: readonly string[]) =>
	promisify(execFile)(process.execPath, ["bench/bench.mjs", ...args], { cwd: ROOT });

it.skipIf(isExecutable)("the bench still measures: a broken one would be found when figures are needed", async () => {
	const { stdout } = await bench("--short", "--json", "--only", "runsList", "--only", "startup");
	const figures = parseLines(stdout);
	expect(figures).toHaveLength(3);
	for (const figure of figures) {
		expect(figure).toEqual({
			name: expect.any(String),
			figure: expect.any(Number),
			goal: expect.stringMatching(/^<=? /),
			holds: expect.any(Boolean),
		});
	}
});
