import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readInput } from "../src/input-file.ts";
import { folder } from "./support/service.ts";

/** A second opening of the pipe missed its end in one to four of six. */
const TIMES = 100;

test("the end of a named pipe is seen, however early its writer ends: a run would wait for it for ever", async () => {
	const pipe = join(await folder(), "pipe");
	execFileSync("mkfifo", [pipe]);
	for (let time = 0; time < TIMES; time++) {
		const [bytes] = await Promise.all([readInput(pipe, 1_000), writeFile(pipe, `row ${time}`)]);
		expect(bytes.toString()).toBe(`row ${time}`);
	}
});
