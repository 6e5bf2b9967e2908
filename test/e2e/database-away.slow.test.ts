import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { type Flavour, flavours, isFlavour } from "../../src/sandbox/flavours/index.ts";
import { type Sandbox, startSandbox } from "../../src/sandbox/index.ts";
import { expectFired } from "../support/faults.ts";
import { program } from "../support/program.ts";
import { envOf } from "../support/ragtag.ts";
import { file, folder, KEY } from "../support/service.ts";
import { at, items, linesOf, range, summaryOf } from "../support/values.ts";
import { isWhole } from "../support/whole.ts";

const ROWS = isWhole ? 2_000 : 400;
const AWAY = isWhole ? 20_000 : 1_500;
const met: readonly Flavour[] = isWhole ? flavours.filter(isFlavour) : ["ragflow-0.21", "ragflow-1.0"];

async function sandboxOf(flavour: Flavour) {
	const sandbox = await startSandbox({ port: 0, key: KEY, documents: ROWS, control: true, flavour });
	onTestFinished(() => sandbox.close());
	const { control, datasetId: dataset } = sandbox;
	if (control === undefined || dataset === undefined) throw new Error("the sandbox has no control address");
	const verb = flavour >= "ragflow-0.25" ? "PATCH" : "PUT";
	return { sandbox, control, dataset, verb, env: { ...envOf(sandbox), XDG_STATE_HOME: await folder() } };
}

const idOf = (n: number): string => (n + 1).toString(16).padStart(32, "0");
const manifest = (column: string): Promise<string> =>
	file("tags.csv", `document_id,${column}:number\n${linesOf(ROWS, (n) => `${idOf(n)},${n}`)}`);

/** What each document has, asked for without the client under `src/rest`. */
async function existingDocument(sandbox: Sandbox, dataset: string): Promise<Map<string, unknown>> {
	sandbox.become("documented");
	const held = new Map<string, unknown>();
	for (let page = 1; ; page += 1) {
		const url = `${sandbox.url}/api/v1/datasets/${dataset}/documents?page=${page}&page_size=1000`;
		const answer: unknown = await (await fetch(url, { headers: { authorization: `Bearer ${KEY}` } })).json();
		const docs = items(at(answer, "data", "docs"));
		for (const doc of docs) held.set(String(at(doc, "id")), at(doc, "meta_fields"));
		if (docs.length < 1000) return held;
	}
}

/** A restart of the database must cost a user no row: 0.1.0 failed the rest of the manifest, or called the key refused. */
describe.each(met)("a server that is %s", (flavour) => {
	it.each(["before", "after"] as const)("a database outage %s an update is written costs no row", async (when) => {
		const { sandbox, control, dataset, verb, env } = await sandboxOf(flavour);
		const on = { method: verb, nth: Math.floor(ROWS / 2) };
		control.setPlan({ faults: [{ fault: "database-away", milliseconds: AWAY, when, on }] });
		const argv = [
			"docs",
			"tag",
			await manifest("n"),
			"-d",
			dataset,
			"--verify",
			"all",
			"--json",
			"--rate",
			"unlimited",
		];
		const { exit, stdout, stderr } = await program(argv, env);
		// A short outage that few requests in flight meet is no outage of the service to the run: it says so of the long one alone.
		expect([summaryOf(stdout), stderr]).toEqual([
			expect.objectContaining({ rows: ROWS, updated: ROWS, failed: 0, pending: 0, verified: true }),
			isWhole ? expect.stringContaining("The service answers again") : expect.any(String),
		]);
		expect(exit).toBe(0);
		expectFired(sandbox);
		const held = [...(await existingDocument(sandbox, dataset))].map(
			([id, metadata]) => [id, at(metadata, "n")] as const,
		);
		expect(new Map(held)).toEqual(new Map(range(ROWS).map((n) => [idOf(n), n])));
	});

	it.each(["before", "after"] as const)(
		"a database outage %s a file is stored costs no file and stores none twice",
		async (when) => {
			const { sandbox, control, dataset, env } = await sandboxOf(flavour);
			const on = { method: "POST", path: "/documents$", nth: 8 };
			control.setPlan({ faults: [{ fault: "database-away", milliseconds: 1_500, when, on }] });
			const home = await folder();
			const names = range(20).map((n) => join(home, `${n}.txt`));
			for (const name of names) await writeFile(name, `text of ${name}`);
			const argv = ["docs", "upload", ...names, "-d", dataset, "--set", "team=x", "--json", "--rate", "unlimited"];
			const { exit, stdout } = await program(argv, env);
			expect(summaryOf(stdout)).toMatchObject({ rows: 20, uploaded: 20, failed: 0, pending: 0 });
			expect(exit).toBe(0);
			expectFired(sandbox);
			const held = await existingDocument(sandbox, dataset);
			expect(held.size).toBe(ROWS + 20);
			expect([...held.values()].filter((metadata) => at(metadata, "team") === "x")).toHaveLength(20);
		},
	);

	it.each(["before", "after"] as const)(
		"a database outage %s a document is removed costs no row and removes no other document",
		async (when) => {
			const { sandbox, control, dataset, env } = await sandboxOf(flavour);
			// The first names one document; where a release takes many at once, the second names the others.
			const on = { method: "DELETE", nth: 2 };
			control.setPlan({ faults: [{ fault: "database-away", milliseconds: 1_500, when, on }] });
			const ids = range(20).map(idOf);
			const argv = ["docs", "rm", "--id", ...ids, "-d", dataset, "--yes", "--json", "--rate", "unlimited"];
			const { exit, stdout } = await program(argv, env);
			expect(summaryOf(stdout)).toMatchObject({ rows: 20, removed: 20, failed: 0, pending: 0 });
			expect(exit).toBe(0);
			expectFired(sandbox);
			const left = range(ROWS - 20, 20).map(idOf);
			expect([...(await existingDocument(sandbox, dataset)).keys()].toSorted()).toEqual(left.toSorted());
		},
	);

	it("a database outage while the list before the first row is read costs no row", async () => {
		const { sandbox, control, dataset, env } = await sandboxOf(flavour);
		// A merge must know that searches work: without any metadata it would not begin.
		const tagged = ["docs", "tag", await manifest("m"), "-d", dataset, "--rate", "unlimited"];
		expect((await program(tagged, env)).exit).toBe(0);
		// A later page: the key was accepted, and what was found out is not in doubt.
		const on = { method: "GET", path: "/documents$", nth: 3 };
		control.setPlan({ faults: [{ fault: "database-away", milliseconds: 1_500, when: "before", on }] });
		const argv = ["docs", "tag", await manifest("n"), "-d", dataset, "--json", "--rate", "unlimited"];
		const { exit, stdout } = await program([...argv, "--mode", "merge"], env);
		expect(summaryOf(stdout)).toMatchObject({ rows: ROWS, updated: ROWS, failed: 0, pending: 0 });
		expect(exit).toBe(0);
		expectFired(sandbox);
	});
});
