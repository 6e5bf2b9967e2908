import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ragtag } from "../../support/ragtag.ts";
import { folder } from "../../support/service.ts";

describe("the pager of help pages", () => {
	it("gets the page, set for the width of the terminal, and the note on the command's options comes after it", async () => {
		const kept = join(await folder(), "kept");
		const world = { terminal: true, columns: 60, env: { PAGER: `cat > ${kept}`, NO_COLOR: "1" } };
		const { exit, stdout, stderr } = await ragtag(["help", "runs"], world);
		expect([exit, stdout, stderr]).toEqual([0, "", "The options of the command: ragtag runs --help\n"]);
		const direct = await ragtag(["help", "runs"], { ...world, env: { PAGER: "", NO_COLOR: "1" } });
		expect(await readFile(kept, "utf8")).toBe(direct.stdout);
		expect(direct.stdout).toMatch(/^# Runs\n\n.{40,60}\n/);
	});

	it("is less by default: where that is not installed, the page is printed without a word", async () => {
		const { exit, stdout, stderr } = await ragtag(["help", "limits"], {
			terminal: true,
			env: { PATH: await folder() },
		});
		expect([exit, stderr]).toEqual([0, ""]);
		expect(stdout).toContain("Limits");
	});

	it("ends with the program when that is stopped from outside", async () => {
		const stopping = new AbortController();
		const begun = join(await folder(), "begun");
		const env = { PAGER: `: > ${begun}; exec sleep 600`, PATH: "/usr/bin:/bin" };
		const ended = ragtag(["help", "limits"], { terminal: true, env, signal: stopping.signal });
		await expect.poll(() => existsSync(begun)).toBe(true);
		stopping.abort({ exit: 143, text: "stopped by SIGTERM" });
		expect((await ended).exit).toBe(143);
	});
});
