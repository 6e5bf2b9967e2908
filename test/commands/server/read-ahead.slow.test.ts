import { expect, it, onTestFinished } from "vitest";
import type { Flavour } from "../../../src/sandbox/flavours/index.ts";
import { startSandbox } from "../../../src/sandbox/index.ts";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { file, folder, KEY } from "../../support/service.ts";
import { at, items, range, summaryOf } from "../../support/values.ts";

const ROWS = 300;
const idOf = (n: number): string => (n + 1).toString(16).padStart(32, "0");

/** A merge into all documents, and another client that writes the later ones as soon as the merge has written its first. */
async function mergeBesideOther(flavour: Flavour) {
	let writeOthers = (): void => undefined;
	const requests: string[] = [];
	const log = (line: string): void => {
		requests.push(line);
		if (/ PATCH \S+0001\/documents\/0+1 200/.test(line)) writeOthers();
	};
	// The other client is done before the merge goes on with its second row.
	const faults = {
		faults: [{ fault: "delay", milliseconds: 4_000, on: { method: "PATCH", document: idOf(1), nth: 2 } }],
	};
	const sandbox = await startSandbox({ port: 0, key: KEY, documents: ROWS, flavour, log, faults });
	onTestFinished(() => sandbox.close());
	const documents = `${sandbox.url}/api/v1/datasets/${sandbox.datasetId}/documents`;
	const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json" };
	const env = { ...envOf(sandbox), XDG_STATE_HOME: await folder() };
	const others: Promise<unknown>[] = [];
	writeOthers = () => {
		writeOthers = () => undefined;
		for (const n of range(100)) {
			const body = JSON.stringify({ meta_fields: { author: "Ann", foreign: "kept" } });
			others.push(fetch(`${documents}/${idOf(150 + n)}`, { method: "PATCH", headers, body }));
		}
	};
	const tag = async (column: string, ...flags: string[]) => {
		const rows = range(ROWS).map((n) => `${idOf(n)},x\n`);
		const path = await file("tags.csv", `document_id,${column}\n${rows.join("")}`);
		return ragtag(["docs", "tag", path, "-d", sandbox.datasetId ?? "", "--json", ...flags], { env });
	};
	const later = writeOthers;
	writeOthers = () => undefined;
	await tag("author", "--rate", "unlimited", "--no-undo");
	writeOthers = later;
	const before = requests.length;
	const { stdout } = await tag("team", "--mode", "merge", "--rate", "unlimited", "--concurrency", "1");
	await Promise.all(others);
	const held: unknown[] = [];
	for (const page of [1, 2, 3]) {
		const answer: unknown = await (
			await fetch(`${documents}?page=${page}&page_size=100&desc=False`, { headers })
		).json();
		held.push(...items(at(answer, "data", "docs")).map((document) => at(document, "meta_fields")));
	}
	return {
		held,
		summary: summaryOf(stdout),
		lists: requests.slice(before).filter((line) => line.includes("ids=")).length,
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
