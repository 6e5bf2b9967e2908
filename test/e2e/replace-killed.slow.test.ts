import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { Flavour } from "../../src/sandbox/flavours/index.ts";
import { held } from "../support/content.ts";
import { killedWhen, program, start } from "../support/program.ts";
import { envOf } from "../support/ragtag.ts";
import { folder, serve } from "../support/service.ts";
import { parseLines, at, range } from "../support/values.ts";
import { isWhole, partOf } from "../support/whole.ts";

const FLAVOURS: readonly Flavour[] = ["ragflow-0.21", "ragflow-0.27", "ragflow-1.0"];
const KEPT = { team: "old", by_hand: "kept" };

/** After these requests, of at most 30 that a replacement sends, the program is killed: without RAGTAG_FAULTS=all every second. */
const MOMENTS = FLAVOURS.map((_, first) =>
	isWhole ? range(30).map((n) => n + 1) : range(5).map((n) => 6 * n + 2 * first + 1),
);

/** Begins the replacement of `a.txt`, kills the program after so many requests, and goes on with the run. */
async function killedAfter(requests: number, flavour: Flavour, ...more: readonly string[]) {
	const service = await serve(0, { flavour, latency: 3 });
	const place = await folder();
	const env = { ...envOf(service), HOME: place, XDG_STATE_HOME: join(place, "state") };
	const paths = ["a.txt", "b.txt"].map((name) => join(place, name));
	for (const path of paths) await writeFile(path, "old text");
	const upload = ["docs", "upload", ...paths, "-d", service.dataset, "--rate", "5000"];
	expect((await program([...upload, "--set", "team=old"], env)).exit).toBe(0);
	for (const { id } of await service.documents()) await service.put(id, KEPT);
	await writeFile(join(place, "a.txt"), "quite another text");
	const before = service.requests.length;
	const replace = [...upload, "--on-existing", "replace", ...more];
	const running = start(replace, env);
	await killedWhen(running, () => service.requests.length - before >= requests);
	// What was on its way arrives after the kill.
	await setTimeout(50);
	const between = await held(service);
	const runs = parseLines((await program(["runs", "list", "--format", "jsonl"], env)).stdout);
	const newest = runs.find((run) => at(run, "command") === "docs upload" && at(run, "state") !== "finished");
	if (newest !== undefined) {
		const resumed = await program(["runs", "resume", String(at(newest, "run"))], env);
		expect([resumed.exit, resumed.stderr]).toEqual([0, resumed.stderr]);
	} else {
		// Nothing was recorded, or all was: the same command finds what there is to do.
		const again = await program(replace, env);
		expect([again.exit, again.stderr]).toEqual([0, again.stderr]);
	}
	const parsed = ["docs", "list", "-d", service.dataset, "--parsing", "DONE", "--fields", "name", "--format", "tsv"];
	return { between, after: await held(service), done: (await program(parsed, env)).stdout.split("\n").length - 2 };
}

describe.each(FLAVOURS)("a replacement at %s that is killed and resumed", (flavour) => {
	it.each(MOMENTS[FLAVOURS.indexOf(flavour)] ?? [])(
		"after %i requests leaves one document with the new content and every key, and never none",
		async (requests) => {
			const { between, after } = await killedAfter(requests, flavour);
			const present = between.filter(({ name }) => name.startsWith("a"));
			expect(present.length).toBeGreaterThan(0);
			expect(present.length).toBeLessThanOrEqual(2);
			expect(after).toEqual([
				{ name: "a.txt", metadata: KEPT, content: "quite another text" },
				{ name: "b.txt", metadata: KEPT, content: "old text" },
			]);
		},
	);
});

it.each(
	partOf(
		range(14).map((n) => 3 * n + 1),
		2,
	),
)(
	"a replacement with --parse --wait that is killed after %i requests leaves one document, which questions find",
	async (requests) => {
		const { between, after, done } = await killedAfter(requests, "ragflow-0.27", "--parse", "--wait");
		expect(between.filter(({ name }) => name.startsWith("a")).length).toBeGreaterThan(0);
		expect([after.map(({ name, content }) => [name, content]), done]).toEqual([
			[
				["a.txt", "quite another text"],
				["b.txt", "old text"],
			],
			2,
		]);
	},
);
