import { readFile, writeFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { program, start } from "../support/program.ts";
import { envOf, type Ended } from "../support/ragtag.ts";
import { file, folder, serve, type Service } from "../support/service.ts";
import { at, parseLines, range, summaryOf } from "../support/values.ts";

type Night = {
	readonly service: Service;
	readonly path: string;
	readonly env: Record<string, string>;
	/** writes the manifest anew: each document gets the letter of that version */
	version(letter: string): Promise<void>;
	/** the nightly job */
	job(...more: readonly string[]): Promise<Ended>;
	/** the letters that documents hold, and how many hold each */
	held(): Promise<Record<string, number>>;
	/** the states of all runs, the newest first */
	states(): Promise<unknown[]>;
};

/** A job over so many documents, whose key is refused at the given writes, once each: it stops there. */
async function nights(documents: number, refusedAt: readonly number[], latency = 0): Promise<Night> {
	const faults = [{ fault: "code", code: 109, when: "before", on: { method: "PUT", nth: [...refusedAt] } } as const];
	const service = await serve(documents, { latency, ...(refusedAt.length === 0 ? {} : { faults: { faults } }) });
	const ids = await service.ids();
	const path = await file("tags.csv", "");
	const env = { ...envOf(service), RAGTAG_STATE_DIR: await folder() };
	const argv = ["docs", "tag", path, "-d", service.dataset, "--rate", "5000", "--concurrency", "1", "--json"];
	return {
		service,
		path,
		env,
		version: (letter) => writeFile(path, `document_id,v\n${ids.map((id) => `${id},${letter}\n`).join("")}`),
		job: (...more) => program([...argv, ...more], env),
		held: async () => {
			const held: Record<string, number> = {};
			for (const { metadata } of await service.documents()) {
				const letter = String(at(metadata, "v"));
				held[letter] = (held[letter] ?? 0) + 1;
			}
			return held;
		},
		states: async () =>
			parseLines((await program(["runs", "list", "--json"], env)).stdout).map((run) => at(run, "state")),
	};
}

const run = ({ stdout }: Ended): string => String(at(summaryOf(stdout), "run"));

it("runs resume continues the interrupted run of 500 rows, not a later run of one row", async () => {
	const night = await nights(500, [7]);
	await night.version("A");
	const first = await night.job();
	expect(summaryOf(first.stdout)).toMatchObject({ pending: 494 });
	const [id = ""] = await night.service.ids();
	const small = await file("small.csv", `document_id,v\n${id},A\n`);
	expect((await program(["docs", "tag", small, "-d", night.service.dataset], night.env)).exit).toBe(0);
	const resumed = await program(["runs", "resume", "--json", "--rate", "5000"], night.env);
	expect([resumed.exit, run(resumed)]).toEqual([0, run(first)]);
	expect(resumed.stderr).toContain(`Resuming run ${run(first)}`);
	expect(await night.held()).toEqual({ A: 500 });
	const none = await program(["runs", "resume"], night.env);
	expect([none.exit, none.stderr]).toEqual([2, expect.stringContaining("no recorded run is unfinished")]);
});

it("runs prune --all keeps the record of a running run, which ends well and can be undone", async () => {
	const night = await nights(120, [], 20);
	await night.version("A");
	const argv = ["docs", "tag", night.path, "-d", night.service.dataset, "--rate", "40", "--json"];
	const running = start(argv, night.env);
	const written = (): number => night.service.requests.filter((line) => line.startsWith("PUT")).length;
	await expect.poll(written, { timeout: 60_000, interval: 10 }).toBeGreaterThan(20);
	const prune = (): Promise<Ended> =>
		program(["runs", "prune", "--all", "--older-than", "1ms", "--keep-last", "0"], night.env);
	let pruned = await prune();
	// A run counts from its last record on: one of this very millisecond is too young to be named.
	for (let again = 0; again < 3 && !pruned.stderr.includes("is in progress"); again++) {
		expect([pruned.exit, pruned.stdout, pruned.stderr]).toEqual([0, "", "0 runs removed.\n"]);
		pruned = await prune();
	}
	expect([pruned.exit, pruned.stdout, pruned.stderr]).toEqual([0, "", expect.stringContaining("is in progress")]);
	const ended = await running.ended;
	expect([ended.exit, summaryOf(ended.stdout)]).toEqual([0, expect.objectContaining({ updated: 120 })]);
	const undone = await program(["runs", "undo", run(ended), "--yes", "--rate", "5000"], night.env);
	expect(undone.exit).toBe(0);
	expect(await night.held()).toEqual({ undefined: 120 });
});

/** Lets a program live two days ahead of its time. Required, as the executable ignores `--import`. */
const AHEAD = `const Real = Date;
const shift = 2 * 86_400_000;
globalThis.Date = class extends Real {
	constructor(...given) { if (given.length === 0) super(Real.now() + shift); else super(...given); }
	static now() { return Real.now() + shift; }
};
`;

it("undo picks the right run although the clock was once two days ahead", async () => {
	const night = await nights(4, []);
	const [one = "", two = ""] = await night.service.ids();
	const tag = async (name: string, id: string, env: Record<string, string>): Promise<string> => {
		const path = await file(`${name}.csv`, `document_id,v\n${id},${name}\n`);
		return run(await program(["docs", "tag", path, "-d", night.service.dataset, "--json"], { ...night.env, ...env }));
	};
	const clock = await file("ahead.cjs", AHEAD);
	const ahead = await tag("ahead", one, { NODE_OPTIONS: `--require ${clock}` });
	const now = await tag("now", two, {});
	expect(ahead > now).toBe(true);
	const listed = parseLines((await program(["runs", "list", "--json"], night.env)).stdout);
	expect(listed.map((line) => at(line, "run"))).toEqual([now, ahead]);
	for (const verb of ["undo", "retry"]) {
		const asked = await program(["runs", verb, ...(verb === "undo" ? ["--yes"] : [])], night.env);
		expect([asked.exit, asked.stderr]).toEqual([2, expect.stringContaining("this machine's clock was changed")]);
		for (const name of [ahead, now]) expect(asked.stderr).toContain(`ragtag runs ${verb} ${name}`);
	}
	expect(await night.held()).toEqual({ ahead: 1, now: 1, undefined: 2 });
	expect((await program(["runs", "undo", now, "--yes"], night.env)).exit).toBe(0);
	expect(await night.held()).toEqual({ ahead: 1, undefined: 3 });
});

it("six runs that start at once get six different numbers, and none is lost", async () => {
	const night = await nights(6, []);
	const ids = await night.service.ids();
	const manifests = await Promise.all(ids.map((id, n) => file(`${n}.csv`, `document_id,v\n${id},${n}\n`)));
	const ended = await Promise.all(
		manifests.map((path) => program(["docs", "tag", path, "-d", night.service.dataset, "--json"], night.env)),
	);
	const runs = ended.map(run);
	const orders = await Promise.all(
		runs.map(async (name) => {
			const record: unknown = JSON.parse(
				await readFile(`${night.env["RAGTAG_STATE_DIR"]}/runs/${name}/run.json`, "utf8"),
			);
			return Number(at(record, "order"));
		}),
	);
	expect(orders.toSorted((a, b) => a - b)).toEqual(range(6, 1));
});
