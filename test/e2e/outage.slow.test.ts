import { expect, it } from "vitest";
import { start } from "../support/program.ts";
import { envOf } from "../support/ragtag.ts";
import { file, serve } from "../support/service.ts";
import { summaryOf } from "../support/values.ts";

const rows = (ids: readonly string[]): Promise<string> =>
	file("tags.csv", `document_id,n:number\n${ids.map((id, n) => `${id},${n}`).join("\n")}\n`);

it("Ctrl-C ends a run at once during an outage", async () => {
	const service = await serve(500);
	const path = await rows(await service.ids());
	const running = start(["docs", "tag", path, "-d", service.dataset, "--rate", "200", "--json"], envOf(service));
	await expect.poll(() => service.requests.length, { timeout: 60_000, interval: 10 }).toBeGreaterThan(60);
	await service.close();
	await running.until((_, err) => err.includes("The service does not answer"));
	const asked = performance.now();
	running.child.kill("SIGINT");
	const { exit, stdout } = await running.ended;
	// Nothing is in flight, so nothing is drained; the rest is a slow machine's.
	expect(performance.now() - asked).toBeLessThan(2_000);
	expect(exit).toBe(130);
	expect(summaryOf(stdout)).toMatchObject({ rows: 500, failed: 0, exit_code: 130 });
});
