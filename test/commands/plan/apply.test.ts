import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { describe, expect, it, onTestFinished } from "vitest";
import { ends, says } from "../../support/ended.ts";
import { metadataHash } from "../../../src/plan/plan-file/planned.ts";
import { PlanText } from "../../../src/plan/plan-file/encode.ts";
import { liar } from "../../support/liar.ts";
import { planned, type Planned } from "../../support/planned.ts";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { ONE_BY_ONE, type RecordedOptions, resumeOf, runOf, stopAt } from "../../support/recorded.ts";
import { file, folder, serve } from "../../support/service.ts";
import { at, parseLines, range, summaryOf } from "../../support/values.ts";

const values = async ({ service, ids }: Planned): Promise<unknown[]> => {
	const held = new Map((await service.documents()).map(({ id, metadata }) => [id, metadata]));
	return ids.map((id) => held.get(id));
};

/** Documents whose updates the service has confirmed since `from`. */
const updates = ({ service }: Planned, from: number): string[] =>
	service.requests.slice(from).filter((line) => line.startsWith("PUT"));

describe("a document that another client changed since the plan", () => {
	it("is left alone, named with its line and keys, and the others are sent", async () => {
		const world = await planned(4, () => true);
		const { service, ids, manifest } = world;
		await service.put(ids[2] ?? "", { author: "Eve", n: 2, note: "mine" });
		const from = service.requests.length;
		const { stdout, stderr } = await ends(world.run(world.applying), 1, { rows: 4, updated: 3, failed: 1, pending: 0 });
		const why = `document ${ids[2]} was changed since the plan was made (keys: note, author); left alone`;
		expect(parseLines(stdout)).toContainEqual(
			expect.objectContaining({ type: "row", line: 4, document_id: ids[2], error_code: "CONFLICT", error: why }),
		);
		const named = why.replace(ids[2] ?? "", `document-0000003.txt (${ids[2]})`);
		expect(stderr).toContain(`${manifest}:4: CONFLICT: ${named}`);
		expect(stderr.trimEnd().split("\n").at(-1)).toContain(`ragtag runs retry ${runOf(stdout)} --force`);
		expect(updates(world, from)).toHaveLength(3);
		expect(await values(world)).toEqual([
			{ author: "Ann", n: 1000 },
			{ author: "Ann", n: 1001 },
			{ author: "Eve", n: 2, note: "mine" },
			{ author: "Ann", n: 1003 },
		]);
	});

	it("does not count toward the refusals that stop a run: all are checked and reported", async () => {
		const world = await planned(15, () => true);
		for (const id of world.ids) await world.service.put(id, {});
		await ends(world.run(world.applying), 1, { failed: 15, pending: 0 });
	});

	it("is written where its failed row is fed back, or where the same rows are forced; the report has it again", async () => {
		const world = await planned(3, () => true);
		for (const n of [0, 1]) await world.service.put(world.ids[n] ?? "", { author: "Eve" });
		const stopped = await world.run(world.applying);
		const run = runOf(stopped.stdout);
		const failed = await readFile(world.path(run, "failed.jsonl"), "utf8");
		expect(parseLines(failed)).toMatchObject([
			{
				document_id: world.ids[0],
				dataset_id: world.service.dataset,
				meta_fields: { author: "Ann", n: 1000 },
				_line: 2,
				_error_code: "CONFLICT",
			},
			{ document_id: world.ids[1], _line: 3 },
		]);
		await rm(world.out);
		const again = join(await folder(), "failed.jsonl");
		expect((await world.run(["runs", "report", run, "--failed", again])).exit).toBe(0);
		expect(await readFile(again, "utf8")).toBe(failed);
		await writeFile(again, `${failed.split("\n")[0]}\n`);
		expect((await world.run(["docs", "tag", again, "--json"])).exit).toBe(0);
		expect((await values(world)).slice(0, 2)).toEqual([{ author: "Ann", n: 1000 }, { author: "Eve" }]);
		await ends(world.run(["runs", "retry", run, "--json"]), 1, { updated: 1, failed: 2, superseded: 1 });
		await ends(world.run(["runs", "retry", run, "--force", "--json"]), 0, { updated: 2, unchanged: 1 });
		expect((await values(world))[1]).toEqual({ author: "Ann", n: 1001 });
	});

	it("is replaced with --force where the plan replaces", async () => {
		const world = await planned(2, () => true);
		await world.service.put(world.ids[0] ?? "", { author: "Eve", note: "mine" });
		expect((await world.run([...world.applying, "--force"])).exit).toBe(0);
		expect(await values(world)).toEqual([
			{ author: "Ann", n: 1000 },
			{ author: "Ann", n: 1001 },
		]);
	});

	it("gets the planned keys with --force where the plan merges, and keeps what another client wrote", async () => {
		const world = await planned(2, () => true, { more: ["--mode", "merge", "--set", "author=!delete"] });
		await world.service.put(world.ids[0] ?? "", { author: "Eve", n: 5, note: "mine" });
		expect((await world.run(world.applying)).exit).toBe(1);
		expect((await world.run([...world.applying, "--force"])).exit).toBe(0);
		expect(await values(world)).toEqual([{ n: 1000, note: "mine" }, { n: 1001 }]);
	});

	it("while the run was interrupted is noticed when it is resumed", async () => {
		const world = await planned(4, () => true, { options: stopAt(4 + 2) });
		const stopped = await ends(world.run(["docs", "apply", world.out, ...ONE_BY_ONE]), 4, { updated: 1, pending: 3 });
		await world.service.put(world.ids[3] ?? "", { author: "Eve", n: 3 });
		await ends(world.run([...resumeOf(stopped.stdout), "--json"]), 1, { updated: 3, failed: 1 });
		expect((await values(world))[3]).toEqual({ author: "Eve", n: 3 });
	});

	it("during the run is noticed right before its own write, where each document is asked for", async () => {
		let isWriting = false;
		// A list of so many documents takes more requests than five rows.
		const service = await liar(600, ({ method, path, query }) => {
			isWriting ||= method === "PUT" && path.endsWith("/doc-0");
			if (!isWriting || query.get("id") !== "doc-4") return undefined;
			const meta_fields = { author: "Eve" };
			return { code: 0, data: { total: 1, docs: [{ id: "doc-4", dataset_id: "set", name: "4.txt", meta_fields }] } };
		});
		const rows = range(5).map((n) => `doc-${n},Ann\n`);
		const manifest = await file("tags.csv", `document_id,author\n${rows.join("")}`);
		const out = join(await folder(), "plan.jsonl");
		const env = envOf(service);
		expect((await ragtag(["docs", "plan", manifest, "-d", "set", "--out", out], { env })).exit).toBe(0);
		await ends(ragtag(["docs", "apply", out, ...ONE_BY_ONE], { env }), 1, { updated: 4, failed: 1 });
		expect(service.held.get("doc-4")).toEqual({});
	});

	it("is reported by a dry run, which shows the others and sends nothing", async () => {
		const world = await planned(3, (n) => n < 2);
		await world.service.put(world.ids[0] ?? "", {});
		const from = world.service.requests.length;
		const argv = ["docs", "apply", world.out, "--dry-run", "--detailed-exitcode"];
		const { stdout } = await says(world.run(argv), 1, ":2: CONFLICT");
		expect(stdout).toBe(
			`document-0000002.txt (${world.ids[1]}) line 3\n  ~ n: 1 → 1001\n\n1 document would change; keys: 1 changed.\n`,
		);
		await ends(world.run([...argv, "--force", "--json"]), 10, { pending: 2, failed: 0 });
		expect(updates(world, from)).toEqual([]);
		expect(await world.folders()).toEqual([]);
	});
});

describe("docs apply", () => {
	it("reads many documents at once without a warning of the runtime", async () => {
		const world = await planned(12, () => true);
		const warnings: Error[] = [];
		const warned = (warning: Error): void => void warnings.push(warning);
		process.on("warning", warned);
		onTestFinished(() => void process.off("warning", warned));
		// A rate of its own, so that looks wait for their turn.
		const { exit } = await world.run(["docs", "apply", world.out, "--dry-run", "--rate", "100"]);
		expect([exit, warnings]).toEqual([0, []]);
	});

	it("finds everything done the second time, and sends nothing", async () => {
		const world = await planned(5, (n) => n > 1);
		expect((await world.run(world.applying)).exit).toBe(0);
		const from = world.service.requests.length;
		await ends(world.run(world.applying), 0, { rows: 3, unchanged: 3, updated: 0 });
		expect(updates(world, from)).toEqual([]);
	});

	it("resumes where it was stopped without the plan file, and counts its own writes as updated", async () => {
		// The third update is applied, and its answer refuses the key.
		const faults: RecordedOptions["faults"] = {
			faults: [{ fault: "code", code: 109, when: "after", on: { method: "PUT", nth: 6 + 3 } }],
		};
		const world = await planned(6, () => true, { options: { faults } });
		const stopped = await ends(world.run(["docs", "apply", world.out, ...ONE_BY_ONE]), 4, { updated: 2, pending: 4 });
		expect((await values(world))[2]).toEqual({ author: "Ann", n: 1002 });
		await rm(world.out);
		const from = world.service.requests.length;
		const ended = await world.run([...resumeOf(stopped.stdout), "--json"]);
		await ends(ended, 0, { run: runOf(stopped.stdout), rows: 6, updated: 6, unchanged: 0, resume: null });
		expect(updates(world, from)).toHaveLength(3);
		expect(await values(world)).toEqual(range(6).map((n) => ({ author: "Ann", n: n + 1000 })));
	});

	it("--resume resumes the unfinished run of the same plan", async () => {
		const world = await planned(3, () => true, { options: stopAt(3 + 2) });
		const argv = ["docs", "apply", world.out, ...ONE_BY_ONE, "--resume"];
		expect((await world.run(argv)).exit).toBe(4);
		expect(summaryOf((await world.run(argv)).stdout)).toMatchObject({ rows: 3, updated: 3, exit_code: 0 });
		expect(await world.folders()).toHaveLength(1);
	});

	it("reads a plan from standard input, and leaves nothing of it in the temporary folder", async () => {
		const world = await planned(2, () => true);
		const stdin = await readFile(world.out);
		expect((await world.run(["docs", "apply", "-"], { stdin })).exit).toBe(0);
		expect(await readdir(join(world.state, "tmp"))).toEqual([]);
		expect(await values(world)).toEqual([
			{ author: "Ann", n: 1000 },
			{ author: "Ann", n: 1001 },
		]);
	});

	it("reports a document that was removed", async () => {
		const world = await planned(2, () => true);
		const gone = await world.run(["docs", "rm", "--id", world.ids[1] ?? "", "-d", world.service.dataset, "--yes"]);
		expect(gone.exit).toBe(0);
		const { stdout } = await ends(world.run(world.applying), 1, { updated: 1, failed: 1 });
		expect(stdout).toContain('"error_code":"NOT_FOUND"');
	});

	it("of a plan without changes ends at once", async () => {
		const world = await planned(2, (n) => n === 0);
		expect((await world.run(world.applying)).exit).toBe(0);
		expect((await world.run([...world.planning, "--force"])).exit).toBe(0);
		expect((await world.run(world.applying)).exit).toBe(0);
	});
});

describe("a plan that is refused sends nothing, exits 8, and still ends in a summary", () => {
	it("of another target", async () => {
		const world = await planned(2, () => true);
		const other = await serve(2);
		const { exit, stdout, stderr } = await ragtag(world.applying, { env: envOf(other) });
		expect([exit, other.requests]).toEqual([8, []]);
		expect(summaryOf(stdout)).toMatchObject({ rows: 2, pending: 2, run: null, exit_code: 8 });
		expect(stderr).toContain(`the plan is for ${world.service.url}/api/v1`);
	});

	it.each<[string, (text: string) => string, string]>([
		["whose value was edited", (text) => text.replace('"n":1001}', '"n":1002}'), "was edited: its checksum"],
		["that was cut", (text) => text.split("\n").slice(0, -2).join("\n"), ":3: the plan was cut"],
		["that is a manifest", () => "document_id,n\na,1\n", ":1: the plan was not written by ragtag docs plan"],
		["that is empty", () => "", "the plan is empty"],
	])("%s", async (_, edit, why) => {
		const world = await planned(2, () => true);
		await writeFile(world.out, edit(await readFile(world.out, "utf8")));
		const from = world.service.requests.length;
		await ends(says(world.run(world.applying), 8, why, world.out), 8, { run: null });
		expect(world.service.requests.slice(from)).toEqual([]);
		expect(await world.folders()).toEqual([]);
		expect(await readdir(join(world.state, "tmp"))).toEqual([]);
	});

	it("that removes: docs apply only writes", async () => {
		const service = await serve(1);
		const [documentId = ""] = await service.ids();
		const was = metadataHash(new Map());
		const text = new PlanText();
		const baseUrl = `${service.url}/api/v1`;
		const manifest = { name: "tags.csv", sha256: was, rows: 1 };
		const header = text.header({ ragtag: "1", baseUrl, mode: "replace", manifest, created: "" });
		const line = text.change({ line: 2, datasetId: service.dataset, documentId, action: "remove", was });
		const path = await file("plan.jsonl", header + line + text.footer({ unchanged: 0, failed: 0 }));
		const from = service.requests.length;
		const { exit, stderr } = await ragtag(["docs", "apply", path], { env: envOf(service) });
		expect([exit, stderr]).toEqual([8, expect.stringContaining(`${path}:2: the plan has the action remove`)]);
		expect(service.requests.slice(from)).toEqual([]);
	});

	it("a plan that can't be read is exit 2", async () => {
		const service = await serve(1);
		for (const [path, why] of [
			[join(await folder(), "absent"), "absent does not exist\nCheck the path of the plan"],
			[await folder(), "is a directory"],
		] as const) {
			await says(ragtag(["docs", "apply", path], { env: envOf(service) }), 2, why);
		}
		expect(service.requests).toEqual([]);
	});
});

it("the result of each row names its line in the manifest", async () => {
	const world = await planned(5, (n) => n > 2);
	await world.service.put(world.ids[4] ?? "", {});
	const { stdout } = await world.run(world.applying);
	expect(parseLines(stdout).filter((line) => at(line, "type") === "row")).toEqual([
		expect.objectContaining({ line: 6, document_id: world.ids[4] }),
	]);
});
