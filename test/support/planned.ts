import { join } from "node:path";
import { expect } from "vitest";
import { recorded, type Recorded, type RecordedOptions } from "./recorded.ts";
import type { Ended } from "./ragtag.ts";
import { file, folder } from "./service.ts";
import { range } from "./values.ts";

/** Documents of `{author, n}`, a plan that changes some of them, and the user who made it. */
export type Planned = Recorded & {
	readonly ids: readonly string[];
	readonly manifest: string;
	/** the plan */
	readonly out: string;
	/** arguments that make it, and that send it */
	readonly planning: string[];
	readonly applying: string[];
	readonly made: Ended;
};

const FAST = ["--rate", "5000", "--json"];

/**
 * A service of so many documents, each written by hand once (which faults count), and a plan of a manifest that names all
 * and changes `n` of every one for which `changes` is true.
 */
export async function planned(
	documents: number,
	changes: (n: number) => boolean,
	{ options = {}, more = [] }: { options?: RecordedOptions; more?: readonly string[] } = {},
): Promise<Planned> {
	const world = await recorded(documents, options);
	const ids = await world.service.ids();
	const rows = (n: (at: number) => number): string =>
		`document_id,author,n:number\n${ids.map((id, at) => `${id},Ann,${n(at)}\n`).join("")}`;
	for (const n of range(documents)) await world.service.put(ids[n] ?? "", { author: "Ann", n });
	const manifest = await file(
		"tags.csv",
		rows((at) => (changes(at) ? at + 1000 : at)),
	);
	const out = join(await folder(), "plan.jsonl");
	const planning = ["docs", "plan", manifest, "-d", world.service.dataset, "--out", out, ...FAST, ...more];
	const made = await world.run(planning);
	expect([made.exit, made.stderr]).toEqual([0, expect.stringContaining("ragtag docs apply")]);
	return { ...world, ids, manifest, out, planning, applying: ["docs", "apply", out, ...FAST], made };
}
