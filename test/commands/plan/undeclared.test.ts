import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../../src/run/clock.ts";
import type { Clock } from "../../../src/run/types.ts";
import { ends, says } from "../../support/ended.ts";
import { liar } from "../../support/liar.ts";
import { type Ended, envOf, ragtag } from "../../support/ragtag.ts";
import { file, folder, type Service, serve } from "../../support/service.ts";
import { at, parseLines, range, summaryOf } from "../../support/values.ts";

/** What was read stays fresh, however slow the machine is: the requests are those of the work alone. */
const unmoved: Clock = { ...systemClock, now: () => 0 };

type World = { readonly service: Service; readonly ids: readonly string[]; readonly out: string };

async function world(documents: number): Promise<World> {
	const service = await serve(documents);
	return { service, ids: await service.ids(), out: join(await folder(), "plan.jsonl") };
}

const plan = (
	{ service, out }: { readonly service: Pick<Service, "url" | "dataset">; readonly out: string },
	path: string,
	...more: string[]
): Promise<Ended> =>
	ragtag(["docs", "plan", path, "-d", service.dataset, "--out", out, "--rate", "5000", ...more], {
		env: envOf(service),
		clock: unmoved,
	});

const manifestOf = (ids: readonly string[]): Promise<string> =>
	file("tags.csv", `document_id,batch\n${ids.map((id) => `${id},x1\n`).join("")}`);

describe("docs plan --undeclared", () => {
	it("lists every document that no row names, by name and id, and writes the plan of the rows", async () => {
		const made = await world(5);
		const { service, ids, out } = made;
		const { exit, stdout, stderr } = await plan(made, await manifestOf(ids.slice(0, 3)), "--undeclared", "report");
		const line = (n: number): string =>
			`document-000000${n}.txt (${ids[n - 1]}) of dataset ${service.dataset}  is in no row\n`;
		expect([exit, stdout]).toEqual([0, line(4) + line(5)]);
		expect(stderr).toContain("\n2 documents are in no row of the manifest.\n");
		expect(parseLines(await readFile(out, "utf8"))).toHaveLength(5);
	});

	it("gives scripts an object each after the changes, and counts them in the summary", async () => {
		const made = await world(4);
		const { service, ids } = made;
		const { exit, stdout } = await plan(made, await manifestOf(ids.slice(1)), "--undeclared", "report", "--json");
		expect(exit).toBe(0);
		expect(parseLines(stdout).at(-2)).toEqual({
			type: "undeclared",
			dataset_id: service.dataset,
			document_id: ids[0],
			name: "document-0000001.txt",
		});
		expect(summaryOf(stdout)).toMatchObject({ undeclared: 1, changes: 3, exit_code: 0 });
	});

	it("fail exits 10 if there is one, and says what to do; report does not, also with --detailed-exitcode", async () => {
		const made = await world(3);
		const path = await manifestOf(made.ids.slice(1));
		expect((await plan(made, path)).exit).toBe(0);
		const failing = await ends(plan(made, path, "--force", "--undeclared", "fail", "--json"), 10, {});
		expect(failing.stderr.trimEnd().split("\n").at(-1)).toMatch(
			/Add a row for each document that has none, or remove it/,
		);
		const whole = await plan(made, await manifestOf(made.ids), "--force", "--undeclared", "fail");
		expect([whole.exit, whole.stdout]).toEqual([0, ""]);
		expect(whole.stderr).toContain("Every document of these datasets is in a row.");
		const same = join(await folder(), "same.jsonl");
		const others = made.ids.slice(1);
		await Promise.all(others.map((id) => made.service.put(id, { batch: "x1" })));
		await says(
			plan({ ...made, out: same }, await manifestOf(others), "--undeclared", "report", "--detailed-exitcode"),
			0,
			"1 document is in no row",
		);
	});

	it("sends no request more than a plan that reads the list anyway", async () => {
		const made = await world(250);
		const path = await manifestOf(made.ids.slice(0, 200));
		const requests = async (...more: string[]): Promise<string[]> => {
			const from = made.service.requests.length;
			expect((await plan(made, path, "--force", ...more)).exit).toBe(0);
			return made.service.requests.slice(from);
		};
		await requests();
		const without = await requests();
		expect((await requests("--undeclared", "report")).length).toBeLessThanOrEqual(without.length);
	});

	it("compares each dataset that a row names, and the default one where there is no row", async () => {
		const two = await liar(0, ({ method, path, query }) => {
			if (method !== "GET" || !path.endsWith("/documents")) return undefined;
			const set = /datasets\/([^/]+)/.exec(path)?.[1];
			const all = range(set === "a" ? 2 : 3).map((n) => ({
				id: `${set}${n}`,
				name: `${set}${n}.txt`,
				meta_fields: {},
			}));
			const id = query.get("id");
			const docs = id === null ? all : all.filter((document) => document.id === id);
			return { code: 0, data: { total: docs.length, docs: query.get("page") === "1" ? docs : [] } };
		});
		const path = await file("tags.csv", "document_id,dataset_id,x\na0,a,1\nb1,b,1\n");
		const out = join(await folder(), "plan.jsonl");
		const { stdout } = await plan({ service: two, out }, path, "--undeclared", "report", "--json");
		const undeclared = parseLines(stdout).filter((line) => at(line, "type") === "undeclared");
		expect(undeclared.map((line) => at(line, "document_id"))).toEqual(["a1", "b0", "b2"]);
		const empty = await file("empty.csv", "document_id,x\n");
		const none = await plan(await world(2), empty, "--allow-empty", "--undeclared", "report", "--json");
		expect(summaryOf(none.stdout)).toMatchObject({ rows: 0, undeclared: 2 });
	});

	it("is an error where the list stays short: then nothing is known to be undeclared", async () => {
		const service = await liar(0, ({ method, path, query }) => {
			if (method !== "GET" || !path.endsWith("/documents")) return undefined;
			const all = range(2).map((n) => ({ id: `d${n}`, name: `${n}.txt`, meta_fields: {} }));
			const isFirst = query.get("page") === "1";
			return { code: 0, data: { total: 5, docs: isFirst ? all : [] } };
		});
		const out = join(await folder(), "plan.jsonl");
		const path = await manifestOf(["d0", "d1"]);
		const { exit, stdout, stderr } = await plan({ service, out }, path, "--undeclared", "report", "--json");
		expect(exit).toBe(1);
		expect(stderr).toContain("counts 5 documents in dataset");
		expect(summaryOf(stdout)).toMatchObject({ exit_code: 1, undeclared: null });
		await expect(readFile(out)).rejects.toThrow();
	});

	it("is a list in the Markdown, cut with the rest", async () => {
		const made = await world(300);
		const flags = ["--undeclared", "report", "--format", "md", "--limit-characters", "4000"];
		const { stdout } = await plan(made, await manifestOf(made.ids.slice(0, 10)), ...flags);
		expect(stdout.length).toBeLessThanOrEqual(4000);
		expect(stdout).toContain("\n290 documents are in no row of the manifest.\n");
		expect(stdout).toMatch(
			/\n# document-\d+\.txt \(\w+\) of dataset \w+ is in no row\n[\s\S]*\n2\d\d documents are not shown/,
		);
		const csv = await plan(
			made,
			await manifestOf(made.ids.slice(1)),
			"--force",
			"--undeclared",
			"report",
			"--format",
			"csv",
		);
		expect(csv.stdout.trimEnd().split("\n").at(-1)).toBe(`,${made.ids[0]},,undeclared document,,,document-0000001.txt`);
	});
});
