import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { casesOf, validJunit } from "../support/junit.ts";
import { samplesOf } from "../support/metrics.ts";
import { start } from "../support/program.ts";
import { envOf } from "../support/ragtag.ts";
import { file, folder, serve } from "../support/service.ts";

it("SIGTERM of a service manager still leaves the metrics and the test report of the run", async () => {
	const service = await serve(50, { latency: 40 });
	const rows = (await service.ids()).map((id) => `${id},1\n`);
	const path = await file("tags.csv", `document_id,n:number\n${rows.join("")}`);
	const out = await folder();
	const [metrics, junit] = [join(out, "ragtag.prom"), join(out, "junit.xml")];
	const argv = ["docs", "tag", path, "-d", service.dataset, "--concurrency", "2"];
	const running = start([...argv, "--metrics-file", metrics, "--junit", junit], envOf(service));
	await expect.poll(() => service.requests.length).toBeGreaterThan(12);
	running.child.kill("SIGTERM");
	expect((await running.ended).exit).toBe(143);
	const samples = Object.entries(samplesOf(await readFile(metrics, "utf8")));
	const valueOf = (name: string): string | undefined => samples.find(([full]) => full.startsWith(name))?.[1];
	expect(valueOf("ragtag_last_run_exit_code")).toBe("143");
	expect(valueOf("ragtag_last_run_duration_seconds")).toMatch(/^\d+(\.\d{1,3})?$/);
	expect(valueOf("ragtag_last_success_timestamp_seconds")).toBeUndefined();
	expect(casesOf(await validJunit(await readFile(junit, "utf8")))).toEqual(["docs tag: error exit 143"]);
	expect((await readdir(out)).toSorted()).toEqual(["junit.xml", "ragtag.prom"]);
});
