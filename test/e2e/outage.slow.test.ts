import { expect, it } from "vitest";
import { startSandbox } from "../../src/sandbox/index.ts";
import { start } from "../support/program.ts";
import { envOf } from "../support/ragtag.ts";
import { file, folder, KEY, serve } from "../support/service.ts";
import { at, range, summaryOf } from "../support/values.ts";

const rows = (ids: readonly string[]): Promise<string> =>
	file("tags.csv", `document_id,n:number\n${ids.map((id, n) => `${id},${n}`).join("\n")}\n`);

const wait = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

it("a restart of the server during a run costs no row and prints two lines", async () => {
	const data = `${await folder()}/sandbox.db`;
	const service = await serve(500, { data });
	const path = await rows(await service.ids());
	const argv = ["docs", "tag", path, "-d", service.dataset, "--rate", "200", "--json"];
	const running = start(argv, envOf(service));
	await expect.poll(() => service.requests.length, { timeout: 60_000, interval: 10 }).toBeGreaterThan(60);
	await service.close();
	const { port } = service;
	await wait(3_000);
	const again = await startSandbox({ port, data, key: KEY, log: () => undefined });
	try {
		const { exit, stdout, stderr } = await running.ended;
		expect([exit, stderr]).toEqual([0, expect.stringContaining("The service answers again")]);
		expect(summaryOf(stdout)).toMatchObject({ rows: 500, updated: 500, failed: 0, pending: 0, exit_code: 0 });
		expect(stderr.match(/The service does not answer/g)).toHaveLength(1);
		const url = `${again.url}/api/v1/datasets/${service.dataset}/documents?page=1&page_size=1000`;
		const answer: unknown = await (await fetch(url, { headers: { authorization: `Bearer ${KEY}` } })).json();
		const held = range(500).map((place) => at(answer, "data", "docs", place, "meta_fields", "n"));
		expect(held.toSorted((a, b) => Number(a) - Number(b))).toEqual(range(500));
	} finally {
		await again.close();
	}
});

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

it("a resumed process (a closed lid) does not send a burst above its rate", async () => {
	const times: number[] = [];
	const service = await serve(400, {
		log: (line) => void (line.includes(" PUT ") && times.push(Date.parse(line.slice(0, line.indexOf(" "))))),
	});
	const path = await rows(await service.ids());
	const running = start(["docs", "tag", path, "-d", service.dataset, "--rate", "50", "--json"], envOf(service));
	await expect.poll(() => times.length, { timeout: 60_000, interval: 10 }).toBeGreaterThan(40);
	running.child.kill("SIGSTOP");
	await wait(3_000);
	running.child.kill("SIGCONT");
	const { exit, stdout } = await running.ended;
	expect(exit).toBe(0);
	expect(summaryOf(stdout)).toMatchObject({ updated: 400, failed: 0 });
	// By the server's clock, with what it may hold back itself.
	const sorted = times.toSorted((a, b) => a - b);
	const most = Math.max(
		...sorted.map((from, place) => sorted.slice(place).filter((time) => time < from + 1_000).length),
	);
	expect(most).toBeLessThanOrEqual(60);
});
