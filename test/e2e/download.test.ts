import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { backUpAndRestore, filled, ran } from "../support/backup.ts";
import { program, start } from "../support/program.ts";

describe("a knowledge base that is downloaded and uploaded into an empty dataset", () => {
	it.each(["ragflow-0.21", "ragflow-0.27", "ragflow-1.0"] as const)(
		"has the same names, bytes and metadata (%s)",
		(flavour) => backUpAndRestore(25, flavour),
	);
});

describe("a download that is killed", () => {
	it("leaves no half file under a final name, and goes on where it was", async () => {
		const count = 40;
		const { service, env, out, bytes } = await filled(count, "ragflow-0.27", 40);
		const running = start(["docs", "download", "-d", service.dataset, "--out", out, "--concurrency", "2"], env);
		const files = async (): Promise<string[]> =>
			(await readdir(out).catch(() => [])).filter((name) => !name.startsWith("."));
		while ((await files()).length < 5) await new Promise((resolve) => setTimeout(resolve, 5));
		running.child.kill("SIGKILL");
		await running.ended;
		const left = await files();
		expect(left.length).toBeLessThan(count);
		const whole = new Set(bytes.values());
		for (const name of left) {
			const digest = createHash("sha256").update(await readFile(join(out, name)));
			expect(whole).toContain(digest.digest("hex"));
		}
		expect((await program(["runs", "resume"], env)).exit).toBe(0);
		expect(await files()).toHaveLength(count + 1);
		expect((await readdir(out)).filter((name) => name.endsWith(".part"))).toEqual([]);
		await ran(["docs", "download", "-d", service.dataset, "--out", out, "--only-changed"], env, { unchanged: count });
	});
});
