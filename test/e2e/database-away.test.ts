import process from "node:process";
import { describe, expect, it } from "vitest";
import type { Flavour } from "../../src/sandbox/flavours/index.ts";
import { startSandbox } from "../../src/sandbox/index.ts";
import { expectFired } from "../support/faults.ts";
import { program } from "../support/program.ts";
import { envOf } from "../support/ragtag.ts";
import { file, folder, KEY } from "../support/service.ts";
import { at, items, range, summaryOf } from "../support/values.ts";

/** `RAGTAG_FAULTS=all` asks for the whole of it: 20 seconds, every flavour. */
const isWhole = process.env["RAGTAG_FAULTS"] === "all";
const ROWS = isWhole ? 2_000 : 400;
const AWAY = isWhole ? 20_000 : 1_500;
const met: readonly Flavour[] = isWhole
	? ["documented", "ragflow-0.18", "ragflow-0.21", "ragflow-0.23", "ragflow-0.24", "ragflow-0.25", "ragflow-0.26"]
	: ["ragflow-0.21", "ragflow-0.24"];

async function sandboxOf(flavour: Flavour) {
	const sandbox = await startSandbox({ port: 0, key: KEY, documents: ROWS, control: true, flavour });
	const { control, datasetId: dataset } = sandbox;
	if (control === undefined || dataset === undefined) throw new Error("the sandbox has no control address");
	const verb = flavour >= "ragflow-0.25" ? "PATCH" : "PUT";
	return { sandbox, control, dataset, verb, env: { ...envOf(sandbox), XDG_STATE_HOME: await folder() } };
}

const idOf = (n: number): string => (n + 1).toString(16).padStart(32, "0");
const manifest = (column: string): Promise<string> =>
	file(
		"tags.csv",
		`document_id,${column}:number\n${range(ROWS)
			.map((n) => `${idOf(n)},${n}\n`)
			.join("")}`,
	);

/** A restart of the database must cost a user no row: 0.1.0 failed the rest of the manifest, or called the key refused. */
describe.each([...met, "ragflow-0.27"] satisfies Flavour[])("at a server that is %s", (flavour) => {
	it.each(["before", "after"] as const)(
		"a database that goes away %s an update is written costs no row",
		async (when) => {
			const { sandbox, control, dataset, verb, env } = await sandboxOf(flavour);
			try {
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
				expect([summaryOf(stdout), stderr]).toEqual([
					expect.objectContaining({ rows: ROWS, updated: ROWS, failed: 0, pending: 0, verified: true }),
					expect.stringContaining("The service answers again"),
				]);
				expect(exit).toBe(0);
				expectFired(sandbox);
				sandbox.become("documented");
				const url = `${sandbox.url}/api/v1/datasets/${dataset}/documents?page=1&page_size=${ROWS}`;
				const answer: unknown = await (await fetch(url, { headers: { authorization: `Bearer ${KEY}` } })).json();
				const held = items(at(answer, "data", "docs")).map((doc) => [at(doc, "id"), at(doc, "meta_fields", "n")]);
				expect(new Map(held.map(([id, n]) => [id, n]))).toEqual(new Map(range(ROWS).map((n) => [idOf(n), n])));
			} finally {
				await sandbox.close();
			}
		},
		120_000,
	);

	it("a database that goes away while the list before the first row is read costs no row", async () => {
		const { sandbox, control, dataset, env } = await sandboxOf(flavour);
		try {
			// A later page: the key was accepted, and what was found out is not in doubt.
			const on = { method: "GET", path: "/documents$", nth: 3 };
			control.setPlan({ faults: [{ fault: "database-away", milliseconds: 1_500, when: "before", on }] });
			const argv = ["docs", "tag", await manifest("n"), "-d", dataset, "--json", "--rate", "unlimited"];
			const { exit, stdout } = await program([...argv, "--mode", "merge"], env);
			expect(summaryOf(stdout)).toMatchObject({ rows: ROWS, updated: ROWS, failed: 0, pending: 0 });
			expect(exit).toBe(0);
			expectFired(sandbox);
		} finally {
			await sandbox.close();
		}
	}, 120_000);
});
