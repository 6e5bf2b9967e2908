import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { serve } from "../../support/service.ts";

/** Manifests tried; the issue's figure is 10,000, which takes minutes: RAGTAG_MANIFESTS=10000 tries them all. */
const MANIFESTS = Number(process.env["RAGTAG_MANIFESTS"] ?? 300);

/** Documents at the start of each round, and manifests of a round: so many runs share a service. */
const DOCUMENTS = 60;
const ROUND = 50;

/** Milliseconds for all of them, on a machine that does something else too. */
const PATIENCE = 60_000 + MANIFESTS * 200;

/** What a cell that should hold an id may hold. Numbers stand for the id of the document of that number. */
const cell = fc.oneof(
	{ weight: 4, arbitrary: fc.nat(DOCUMENTS - 1) },
	{
		weight: 2,
		arbitrary: fc.constantFrom(
			"",
			" ",
			".",
			"..",
			"*",
			"%",
			"all",
			"null",
			"[]",
			"{}",
			"true",
			"ids",
			"delete_all",
			"0",
			"\t",
			"'",
			'"',
			"0".repeat(32),
			"f".repeat(32),
			"a/b",
			"../..",
			"?id=",
			"%2e%2e",
			"\u0000",
			"\r",
			"\uFEFF",
		),
	},
	{ weight: 1, arbitrary: fc.string({ maxLength: 12 }) },
	{ weight: 1, arbitrary: fc.nat(DOCUMENTS - 1).map((n) => ({ of: n, change: "upper" as const })) },
	{ weight: 1, arbitrary: fc.nat(DOCUMENTS - 1).map((n) => ({ of: n, change: "spaced" as const })) },
	{ weight: 1, arbitrary: fc.nat(DOCUMENTS - 1).map((n) => ({ of: n, change: "cut" as const })) },
);

type Cell = number | string | { of: number; change: "upper" | "spaced" | "cut" };

const manifest = fc.record({
	rows: fc.array(cell, { maxLength: 5 }),
	form: fc.constantFrom("csv", "csv without a header", "csv with more", "json", "jsonl", "wrapped", "raw ids"),
	member: fc.constantFrom("document_id", "document_id", "document_id", "Document_ID", "id", "ids", "document_ids"),
	flags: fc.uniqueArray(
		fc.constantFrom("--skip-invalid", "--allow-empty", "--on-duplicate=first", "--on-duplicate=last", "--empty=null"),
		{ maxLength: 3 },
	),
	byId: fc.boolean(),
});

function textOf(ids: readonly string[], form: string, member: string): string {
	const quoted = ids.map((id) => `"${id.replaceAll('"', '""')}"`);
	switch (form) {
		case "csv":
			return `${member}\n${quoted.join("\n")}\n`;
		case "csv without a header":
			return `${quoted.join("\n")}\n`;
		case "csv with more":
			return `${member},delete_all\n${quoted.map((id) => `${id},true\n`).join("")}`;
		case "json":
			return JSON.stringify(ids.map((id) => ({ [member]: id })));
		case "jsonl":
			return ids.map((id) => JSON.stringify({ [member]: id, delete_all: true })).join("\n");
		case "wrapped":
			return JSON.stringify({ ids, [member]: ids, delete_all: true });
		default:
			return JSON.stringify(ids);
	}
}

describe("docs rm against the release on which a mistake in the body empties the dataset (v0.21)", () => {
	it(
		`of ${MANIFESTS} random manifests none removes a document that it does not name`,
		{ timeout: PATIENCE },
		async () => {
			let left = MANIFESTS;
			let removals = 0;
			while (left > 0) {
				const service = await serve(DOCUMENTS, { flavour: "ragflow-0.21" });
				const all = await service.ids();
				const idOf = (each: Cell): string => {
					if (typeof each === "string") return each;
					const id = all[typeof each === "number" ? each : each.of] ?? "";
					if (typeof each === "number") return id;
					return { upper: `${id.slice(0, -1)}A`, spaced: ` ${id}`, cut: id.slice(0, 31) }[each.change];
				};
				let held = new Set(all);
				const env = envOf(service);
				await fc.assert(
					fc.asyncProperty(manifest, async ({ rows, form, member, flags, byId }) => {
						const ids = rows.map(idOf);
						const source = byId ? ["--id", ...ids] : ["-", ...flags];
						const stdin = byId ? "" : textOf(ids, form, member);
						const argv = ["docs", "rm", ...source, "-d", service.dataset, "--yes", "-q", "--rate", "5000"];
						// An id that looks like an option is one, as everywhere.
						if (byId && ids.some((id) => id.startsWith("-"))) return;
						await ragtag(argv, { env, stdin });
						const now = new Set(await service.ids());
						const gone = [...held].filter((id) => !now.has(id));
						removals += gone.length;
						held = now;
						expect(gone.filter((id) => !ids.includes(id))).toEqual([]);
					}),
					{ numRuns: Math.min(ROUND, left), endOnFailure: true },
				);
				left -= ROUND;
				await service.close();
			}
			// Manifests that remove nothing would prove nothing.
			expect(removals).toBeGreaterThan(MANIFESTS / 10);
		},
	);
});
