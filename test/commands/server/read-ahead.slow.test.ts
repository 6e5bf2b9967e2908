import { expect, it } from "vitest";
import { systemClock } from "../../../src/run/clock.ts";
import type { Clock } from "../../../src/run/types.ts";
import type { Flavour } from "../../../src/sandbox/flavours/index.ts";
import { proxy } from "../../support/proxy.ts";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { file, folder, idOf, KEY, serve } from "../../support/service.ts";
import { at, range, summaryOf } from "../../support/values.ts";

const ROWS = 300;

/**
 * A merge into all documents, and another client that writes the later ones between its first update and its second. Each
 * update takes 70 ms of its clock, and a wait no time: what is read again does not depend on the machine.
 */
async function mergeBesideOther(flavour: Flavour) {
	const service = await serve(ROWS, { flavour });
	const documents = `${service.url}/api/v1/datasets/${service.dataset}/documents`;
	const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json" };
	const body = JSON.stringify({ meta_fields: { author: "Ann", foreign: "kept" } });
	const writeOthers = (): Promise<unknown> =>
		Promise.all(range(100).map((n) => fetch(`${documents}/${idOf(151 + n)}`, { method: "PATCH", headers, body })));
	let updates = 0;
	let isMerging = false;
	let others: Promise<unknown> | undefined;
	const url = await proxy(service, async ({ method }, pass) => {
		if (method !== "PATCH") return pass();
		await others;
		const answer = await pass();
		updates += 1;
		if (isMerging) others ??= writeOthers();
		return answer;
	});
	const env = { ...envOf({ url }), XDG_STATE_HOME: await folder() };
	let waited = 0;
	const clock: Clock = {
		...systemClock,
		now: () => updates * 70 + waited,
		sleep: (milliseconds, signal) => {
			waited += milliseconds;
			return systemClock.sleep(1, signal);
		},
	};
	const tag = async (column: string, ...flags: string[]) => {
		const rows = range(ROWS, 1).map((n) => `${idOf(n)},x\n`);
		const path = await file("tags.csv", `document_id,${column}\n${rows.join("")}`);
		const argv = ["docs", "tag", path, "-d", service.dataset, "--json", "--rate", "unlimited", ...flags];
		return ragtag(argv, { env, clock });
	};
	await tag("author", "--no-undo");
	const before = service.requests.length;
	isMerging = true;
	const { stdout } = await tag("team", "--mode", "merge", "--concurrency", "1");
	return {
		held: (await service.documents()).map(({ metadata }) => metadata),
		summary: summaryOf(stdout),
		lists: service.requests.slice(before).filter((line) => line.includes("ids=")).length,
	};
}

it("what another client writes ahead of a merge is kept where documents can be read a chunk at a time", async () => {
	const { held, summary, lists } = await mergeBesideOther("ragflow-0.27");
	const foreign = held.slice(150, 250);
	expect(foreign).toEqual(range(100).map(() => ({ author: "Ann", foreign: "kept", team: "x" })));
	expect(summary).toMatchObject({ updated: ROWS });
	// A chunk holds a hundred rows. Its rest is read again after five seconds, and two chunks may be read ahead at a time.
	expect(lists).toBeGreaterThanOrEqual(ROWS / 100);
	expect(lists).toBeLessThanOrEqual(ROWS / 100 + (2 * Number(at(summary, "seconds"))) / 5);
	expect(at(summary, "oldest_reading_seconds")).toBeLessThan(5);
});

it("a release that ignores the ids that it is asked for gets every row right all the same", async () => {
	const { held, summary, lists } = await mergeBesideOther("ragflow-0.25");
	expect(held.filter((metadata) => at(metadata, "team") === "x")).toHaveLength(ROWS);
	expect(summary).toMatchObject({ updated: ROWS });
	// The list is read again once it is five seconds old, never a row at a time.
	expect(lists).toBeLessThanOrEqual(1 + Number(at(summary, "seconds")) / 5);
});
