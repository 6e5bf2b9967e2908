import { readFileSync } from "node:fs";
import process from "node:process";
import { describe, it } from "vitest";
import type { Flavour } from "../../src/sandbox/flavours/index.ts";
import { hasOpenssl } from "../support/certificate.ts";
import { releases } from "../sandbox/flavours/support.ts";

export type Kind = { readonly kind: string; readonly how: string };

/** Every kind of fault by its id, as faults.md lists them: `| N8 | link down | not here: why |`. */
export const KINDS: ReadonlyMap<string, Kind> = new Map(
	[
		...readFileSync(new URL("faults.md", import.meta.url), "utf8").matchAll(
			/^\| ([A-Z]\d+) *\| ([^|]+) \| ([^|]+) \|$/gm,
		),
	].map(([, id = "", kind = "", how = ""]) => [id, { kind: kind.trim(), how: how.trim() }]),
);

/** Which sandboxes a fault is shown against: all, the documented one, or none (a server of its own, or no server). */
type Against = "all" | "documented" | "none";

/** How one kind of fault is shown. */
export type FaultTest = {
	readonly id: string;
	/** what a user would lose */
	readonly kind: string;
	readonly against: Against;
	/** `quick`: `npm test` runs it, against the documented flavour alone; `openssl`: it needs that program */
	readonly marks: readonly string[];
	readonly run: (flavour: Flavour) => Promise<unknown>;
};

const isAgainst = (mark: string): mark is Against => ["all", "documented", "none"].includes(mark);

/** The tests of one section. A title is `id marks: what a user would lose`; a mark may say against what it is shown. */
export function section(
	usual: Against,
	write: (test: (title: string, run: FaultTest["run"]) => void) => void,
): readonly FaultTest[] {
	const tests: FaultTest[] = [];
	write((title, run) => {
		const [, id = "", marked = "", kind = ""] = /^([A-Z]\d+)((?: \w+)*): (.+)$/s.exec(title) ?? [];
		if (!KINDS.has(id)) throw new Error(`faults.md has no kind for the test: ${title}`);
		const marks = marked.split(" ").slice(1);
		tests.push({ id, kind, against: marks.find(isAgainst) ?? usual, marks, run });
	});
	return tests;
}

/** `npm run test:faults` (all) runs all of them, `npm test` the quick ones; the name of a flavour: all, against it alone. */
const wanted = process.env["RAGTAG_FAULTS"] ?? "quick";
const isAll = wanted !== "quick";

/** Generous: a slow machine is no failure. */
const TIMEOUT = 120_000;

/** Declares the tests of one section, a test for each flavour that a kind is shown against. */
export function declare(name: string, tests: readonly FaultTest[]): void {
	describe(name, () => {
		for (const { id, kind, against, marks, run } of tests) {
			if (!isAll && !marks.includes("quick")) continue;
			const every = against === "all" && isAll ? (["documented", ...releases] as const) : (["documented"] as const);
			const on = every.filter((flavour) => wanted === "all" || !isAll || flavour === wanted);
			const missing = marks.includes("openssl") && !hasOpenssl ? " (skipped: there is no openssl here)" : "";
			for (const flavour of on) {
				const where = against === "none" ? "" : ` [${flavour}]`;
				it.skipIf(missing !== "")(
					`${id} ${KINDS.get(id)?.kind}: ${kind}${where}${missing}`,
					{ timeout: TIMEOUT },
					async () => void (await run(flavour)),
				);
			}
		}
	});
}
