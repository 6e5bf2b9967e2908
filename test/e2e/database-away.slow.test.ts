import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ends } from "../support/ended.ts";
import { type Flavour, flavours, isFlavour } from "../../src/sandbox/flavours/index.ts";
import { expectFired } from "../support/faults.ts";
import { program } from "../support/program.ts";
import { envOf } from "../support/ragtag.ts";
import { file, folder, type Held, serve } from "../support/service.ts";
import { at, linesOf, range } from "../support/values.ts";
import { isWhole } from "../support/whole.ts";

const ROWS = isWhole ? 2_000 : 400;
const met: readonly Flavour[] = isWhole ? flavours.filter(isFlavour) : ["ragflow-0.21", "ragflow-1.0"];

const idOf = (n: number): string => (n + 1).toString(16).padStart(32, "0");
const manifest = (column: string): Promise<string> =>
	file("tags.csv", `document_id,${column}:number\n${linesOf(ROWS, (n) => `${idOf(n)},${n}`)}`);

type Case = {
	readonly argv: () => Promise<string[]>;
	/** the request that the database is away from */
	readonly on: (verb: string) => Readonly<Record<string, unknown>>;
	readonly milliseconds?: number;
	readonly counts: object;
	/** what the documents are then */
	readonly left: (held: readonly Held[]) => void;
};

const CASES: Readonly<Record<string, Case>> = {
	"an update is written": {
		argv: async () => ["docs", "tag", await manifest("n"), "--verify", "all"],
		on: (method) => ({ method, nth: Math.floor(ROWS / 2) }),
		milliseconds: isWhole ? 20_000 : 1_500,
		counts: { rows: ROWS, updated: ROWS, verified: true },
		left: (held) => {
			const numbers = held.map(({ id, metadata }) => [id, at(metadata, "n")] as const);
			expect(new Map(numbers)).toEqual(new Map(range(ROWS).map((n) => [idOf(n), n])));
		},
	},
	"a file is stored": {
		argv: async () => {
			const home = await folder();
			const names = range(20).map((n) => join(home, `${n}.txt`));
			for (const name of names) await writeFile(name, `text of ${name}`);
			return ["docs", "upload", ...names, "--set", "team=x"];
		},
		on: () => ({ method: "POST", path: "/documents$", nth: 8 }),
		counts: { rows: 20, uploaded: 20 },
		left: (held) => {
			const stored = held.filter(({ metadata }) => at(metadata, "team") === "x");
			expect([held.length, new Set(stored.map(({ name }) => name)).size]).toEqual([ROWS + 20, 20]);
		},
	},
	"a document is removed": {
		argv: async () => ["docs", "rm", "--id", ...range(20).map(idOf), "--yes"],
		// The first names one document; where a release takes many at once, the second names the others.
		on: () => ({ method: "DELETE", nth: 2 }),
		counts: { rows: 20, removed: 20 },
		left: (held) => expect(held.map(({ id }) => id).toSorted()).toEqual(range(ROWS - 20, 20).map(idOf)),
	},
	"the list before the first row is read": {
		argv: async () => ["docs", "tag", await manifest("n"), "--mode", "merge"],
		// A later page: the key was accepted, and what was found out is not in doubt.
		on: () => ({ method: "GET", path: "/documents$", nth: 3 }),
		counts: { rows: ROWS, updated: ROWS },
		left: (held) => expect(held).toHaveLength(ROWS),
	},
};

/** A restart of the database must cost a user no row: 0.1.0 failed the rest of the manifest, or called the key refused. */
const rows = Object.entries(CASES).flatMap(([what, one]) =>
	(["before", "after"] as const).map((when) => ({ when, what, ...one })),
);

describe.each(met)("at %s a database outage", (flavour) => {
	it.each(rows)("$when $what costs no row, stores no file twice and removes no other document", async (row) => {
		const { argv, on, milliseconds = 1_500, when, counts, left } = row;
		const service = await serve(ROWS, { control: true, flavour });
		const env = { ...envOf(service), XDG_STATE_HOME: await folder() };
		const more = ["-d", service.dataset, "--json", "--rate", "unlimited"];
		// A merge must know that searches work: without any metadata it would not begin.
		if (row.what.includes("list")) await service.put(idOf(0), { m: 1 });
		const fault = { fault: "database-away", milliseconds, when, on: on(flavour >= "ragflow-0.25" ? "PATCH" : "PUT") };
		service.control?.setPlan({ faults: [fault] });
		const ended = await ends(program([...(await argv()), ...more], env), 0, { failed: 0, pending: 0, ...counts });
		// A short outage that few requests in flight meet is no outage of the service to the run: it says so of the long one alone.
		if (milliseconds > 1_500) expect(ended.stderr).toContain("The service answers again");
		expectFired(service);
		left(await service.documents());
	});
});
