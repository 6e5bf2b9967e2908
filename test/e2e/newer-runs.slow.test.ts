import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import process from "node:process";
import { describe, expect, it } from "vitest";
import { killedWhen, program, start } from "../support/program.ts";
import { type Ended, envOf } from "../support/ragtag.ts";
import { folder, serve, type Service } from "../support/service.ts";
import { at, parseLines, summaryOf } from "../support/values.ts";

// A run that goes on must not overwrite, remove or take back what a newer run has left. Every older run is killed, a newer run
// comes, the older one goes on, and the store of the service is read without the client. RAGTAG_TABLE=all takes every
// combination, which takes half an hour; the suite takes each older run with three newer ones, and one way on.

const DOCUMENTS = 16;
/** Documents that the newer run touches: some that the older run has written when it is killed, and some that it has not. */
const TOUCHED = [1, 2, 5, 9, 13, 15];
/** Documents that the older run has not reached when it is killed early. */
const NOT_REACHED = [12, 13, 14, 15];
const ONE_BY_ONE = ["--concurrency", "1", "--chunk", "1", "--rate", "5000"];
const WRITE = /^(?:PUT|PATCH|DELETE|POST) .*documents/;

type World = {
	readonly service: Service;
	readonly folder: string;
	readonly ids: readonly string[];
	run(argv: readonly string[], stdin?: string, url?: string): Promise<Ended>;
	/** starts the program, and kills it when the service has confirmed so many writes */
	killed(argv: readonly string[], writes: number): Promise<void>;
	file(name: string, text: string): Promise<string>;
	rows(name: string, documents: readonly number[], value: string): Promise<string>;
	metadata(): Promise<ReadonlyMap<string, unknown>>;
};

async function world(faults: readonly Fault[] = []): Promise<World> {
	const service = await serve(DOCUMENTS, { latency: 4, faults: { faults } });
	const place = await folder();
	const ids = await service.ids();
	const env = { ...envOf(service), HOME: place, XDG_STATE_HOME: join(place, "state") };
	const write = async (name: string, text: string): Promise<string> => {
		const path = join(place, name);
		await writeFile(path, text);
		return path;
	};
	const confirmed = (): number => service.requests.filter((line) => WRITE.test(line) && line.endsWith(" 200")).length;
	return {
		service,
		folder: place,
		ids,
		run: (argv, stdin = "", url = service.url) => program(argv, { ...env, RAGTAG_BASE_URL: url }, stdin),
		killed: async (argv, writes) => {
			const before = confirmed();
			await killedWhen(start(argv, env), () => confirmed() - before >= writes);
		},
		file: write,
		rows: (name, documents, value) =>
			write(name, `document_id,v\n${documents.map((n) => `${ids[n]},${value}\n`).join("")}`),
		metadata: async () => new Map((await service.documents()).map(({ id, metadata }) => [id, metadata])),
	};
}

const ALL = Array.from({ length: DOCUMENTS }, (_, n) => n);

/** Begins a run and kills it after so many writes. What it would have left on a document that no other run touches. */
type Older = (world: World, writes: number) => Promise<{ readonly left: unknown }>;

const GONE = "gone";

const tagged =
	(...flags: readonly string[]): Older =>
	async (w, writes) => {
		await w.killed([...tag(w, await w.rows("a.csv", ALL, "A")), ...flags], writes);
		return { left: { v: "A" } };
	};

const older: Readonly<Record<string, Older>> = {
	tag: tagged(),
	merge: tagged("--mode", "merge"),
	"only-changed": tagged("--only-changed"),
	rm: async (w, writes) => {
		const path = await w.file("gone.csv", `document_id\n${w.ids.map((id) => `${id}\n`).join("")}`);
		await w.killed(["docs", "rm", path, "-d", w.service.dataset, "--yes", ...ONE_BY_ONE], writes);
		return { left: GONE };
	},
	undo: async (w, writes) => {
		expect((await w.run(tag(w, await w.rows("first.csv", ALL, "first")))).exit).toBe(0);
		await w.killed(["runs", "undo", "--yes", ...ONE_BY_ONE], writes);
		return { left: {} };
	},
	retry: async (w, writes) => {
		// A retry takes the pending rows too.
		await w.killed(tag(w, await w.rows("a.csv", ALL, "A")), 1);
		await w.killed(["runs", "retry", ...ONE_BY_ONE], writes);
		return { left: { v: "A" } };
	},
	apply: async (w, writes) => {
		const plan = join(w.folder, "plan.jsonl");
		const manifest = await w.rows("a.csv", ALL, "A");
		expect((await w.run(["docs", "plan", manifest, "-d", w.service.dataset, "--out", plan])).exit).toBe(0);
		await w.killed(["docs", "apply", plan, ...ONE_BY_ONE], writes);
		return { left: { v: "A" } };
	},
};

/** A newer run that writes `B` to some documents, or removes them. What these have afterwards. */
type Newer = (world: World, documents: readonly number[]) => Promise<{ readonly left: unknown }>;

const tag = ({ service }: World, path: string): string[] => ["docs", "tag", path, "-d", service.dataset, ...ONE_BY_ONE];

const succeeds = async (ended: Promise<Ended>): Promise<void> => {
	const { exit, stderr } = await ended;
	expect([exit, stderr]).toEqual([0, stderr]);
};

const B = { left: { v: "B" } };

type Fault = NonNullable<NonNullable<Parameters<typeof serve>[1]>["faults"]>["faults"][number];

/** The first updates are refused: a run of these rows fails, and its retry is a newer execution than the run that follows it. */
const REFUSED = {
	fault: "code",
	code: 102,
	when: "before",
	on: { method: "PUT", nth: TOUCHED.map((_, n) => n + 1) },
} as const;

/** What a newer run of this kind takes up, done before the older run. */
const prepared: Readonly<Record<string, { readonly faults: readonly Fault[]; readonly exit: number }>> = {
	undo: { faults: [], exit: 0 },
	retry: { faults: [REFUSED], exit: 1 },
};

const firstRun = async (w: World): Promise<string> => {
	const runs = parseLines((await w.run(["runs", "list", "--json"])).stdout);
	return String(at(runs.at(-1), "run"));
};

const newer: Readonly<Record<string, Newer>> = {
	"other file": async (w, documents) => {
		await succeeds(w.run(tag(w, await w.rows("b.csv", documents, "B"))));
		return B;
	},
	symlink: async (w, documents) => {
		await symlink(await w.rows("b.csv", documents, "B"), join(w.folder, "link.csv"));
		await succeeds(w.run(tag(w, join(w.folder, "link.csv"))));
		return B;
	},
	pipe: async (w, documents) => {
		await succeeds(w.run(tag(w, "-"), `document_id,v\n${documents.map((n) => `${w.ids[n]},B\n`).join("")}`));
		return B;
	},
	plan: async (w, documents) => {
		const plan = join(w.folder, "b.jsonl");
		await succeeds(
			w.run(["docs", "plan", await w.rows("b.csv", documents, "B"), "-d", w.service.dataset, "--out", plan]),
		);
		await succeeds(w.run(["docs", "apply", plan, ...ONE_BY_ONE]));
		return B;
	},
	filter: async (w, documents) => {
		for (const n of documents) {
			const name = (await w.service.documents()).find(({ id }) => id === w.ids[n])?.name;
			// The filter finds no document that a removal has taken away.
			if (name === undefined) continue;
			const words = ["docs", "tag", "-d", w.service.dataset, "--name", name, "--set", "v=B", "--mode", "merge"];
			await succeeds(w.run([...words, ...ONE_BY_ONE]));
		}
		return B;
	},
	rm: async (w, documents) => {
		const ids = documents.map((n) => w.ids[n] ?? "");
		await succeeds(w.run(["docs", "rm", "--id", ...ids, "-d", w.service.dataset, "--yes", ...ONE_BY_ONE]));
		return { left: GONE };
	},
	"another address": async (w, documents) => {
		const url = w.service.url.replace("127.0.0.1", "localhost");
		await succeeds(w.run(tag(w, await w.rows("b.csv", documents, "B")), "", url));
		return B;
	},
	"killed and resumed": async (w, documents) => {
		await w.killed(tag(w, await w.rows("b.csv", documents, "B")), 2);
		const [run] = parseLines((await w.run(["runs", "list", "--json"])).stdout);
		// It may have come to its end before it was killed.
		if (["unfinished", "killed"].includes(String(at(run, "state"))))
			await succeeds(w.run(["runs", "resume", String(at(run, "run")), ...ONE_BY_ONE]));
		return B;
	},
	undo: async (w) => {
		await w.run(["runs", "undo", await firstRun(w), "--yes", ...ONE_BY_ONE]);
		return { left: undefined };
	},
	retry: async (w) => {
		await w.run(["runs", "retry", await firstRun(w), ...ONE_BY_ONE]);
		return { left: undefined };
	},
	upload: async (w, documents) => {
		const files = join(w.folder, "files");
		await mkdir(files);
		const held = await w.service.documents();
		const lines: string[] = [];
		for (const n of documents) {
			const name = held.find(({ id }) => id === w.ids[n])?.name;
			if (name === undefined) continue;
			await writeFile(join(files, name), "");
			lines.push(`${name},B`);
		}
		const path = join(files, "m.csv");
		await writeFile(path, `file,v\n${lines.join("\n")}\n`);
		const words = ["docs", "upload", path, "-d", w.service.dataset, "--on-existing", "update-metadata"];
		await succeeds(w.run([...words, ...ONE_BY_ONE]));
		return B;
	},
};

/** How the older run goes on. */
type Way = (world: World, run: string) => Promise<Ended>;

const ways: Readonly<Record<string, Way>> = {
	"runs resume": (w) => w.run(["runs", "resume", "--yes", "--json", ...ONE_BY_ONE]),
	"runs resume RUN": (w, run) => w.run(["runs", "resume", run, "--yes", "--json", ...ONE_BY_ONE]),
	"runs retry RUN": (w, run) => w.run(["runs", "retry", run, "--json", ...ONE_BY_ONE]),
	"runs undo RUN": (w, run) => w.run(["runs", "undo", run, "--yes", "--json", ...ONE_BY_ONE]),
};

type Case = {
	readonly before: string;
	readonly after: string;
	readonly way: string;
	readonly kill: "early" | "late" | "end";
};

const KILLS = { early: 6, late: 12, end: DOCUMENTS } as const;

/** Removed documents can't be written, and a removal can't be undone. */
const isPossible = ({ before, after, way, kill }: Case): boolean =>
	!(before === "rm" && (way === "runs undo RUN" || kill !== "early" || after === "filter" || after === "upload")) &&
	// The run before would be the older run itself, or the one that it undoes.
	!((before === "undo" || before === "retry") && after in prepared);

function cases(): Case[] {
	const all = Object.keys(older).flatMap((before) =>
		Object.keys(newer).flatMap((after) =>
			Object.keys(ways).flatMap((way) =>
				(Object.keys(KILLS) as (keyof typeof KILLS)[]).map((kill) => ({ before, after, way, kill })),
			),
		),
	);
	const possible = all.filter(isPossible);
	// A third of the pairs in the suite, with the ways and the kills in turn.
	if (process.env["RAGTAG_TABLE"] === "all") return possible;
	const pairs = new Map<string, Case[]>();
	for (const one of possible) {
		const key = `${one.before} ${one.after}`;
		pairs.set(key, [...(pairs.get(key) ?? []), one]);
	}
	return [...pairs.values()].flatMap((same, turn) =>
		turn % 3 === 0 ? (same[(turn * 7 + turn / 3) % same.length] ?? []) : [],
	);
}

describe("what a newer run has left stays", () => {
	it.each(cases())("$before, killed $kill; newer: $after; then $way", async ({ before, after, way, kill }) => {
		const preparation = prepared[after];
		const w = await world(preparation?.faults);
		// Of removed documents the newer run takes those that are not reached.
		const touched = before === "rm" ? NOT_REACHED : TOUCHED;
		if (preparation !== undefined) {
			expect((await w.run(tag(w, await w.rows("zero.csv", touched, "zero")))).exit).toBe(preparation.exit);
		}
		const first = await older[before]?.(w, KILLS[kill]);
		const [begun] = parseLines((await w.run(["runs", "list", "--json"])).stdout);
		const run = String(at(begun, "run"));
		const reached = await w.metadata();
		const second = await newer[after]?.(w, touched);
		const between = await w.metadata();
		const ended = (await ways[way]?.(w, run)) ?? { exit: -1, stdout: "", stderr: "" };
		const now = await w.metadata();
		for (const n of touched) {
			const id = w.ids[n] ?? "";
			// An undo or a retry leaves alone what the older run has written since.
			if (second?.left === undefined && isDeepStrictEqual(reached.get(id), between.get(id))) continue;
			const left = second?.left ?? between.get(id) ?? GONE;
			expect([n, now.get(id) ?? GONE, ended.stderr]).toEqual([n, left, ended.stderr]);
		}
		for (const n of ALL.filter((each) => !touched.includes(each))) {
			const id = w.ids[n] ?? "";
			const values = [now.get(id) ?? GONE, ended.stderr];
			// An undo restores what was there before the older run; every other way completes it, or had nothing left to do.
			if (way !== "runs undo RUN" && ["unfinished", "killed"].includes(String(at(begun, "state"))))
				expect([n, ...values]).toEqual([n, first?.left, ended.stderr]);
			else if (way !== "runs undo RUN") expect([n, ...values]).toEqual([n, between.get(id) ?? GONE, ended.stderr]);
		}
		// Nothing wrong hides behind an exit 0: rows that were not sent for a newer run are failed rows.
		expect([0, 1, 2], ended.stderr).toContain(ended.exit);
		if (ended.exit !== 2) {
			const { rows, updated, unchanged, uploaded, removed, failed, pending } = Object(summaryOf(ended.stdout));
			expect(rows).toBe(updated + unchanged + uploaded + removed + failed + pending);
			expect(pending).toBe(0);
			if (failed === 0) expect(ended.exit).toBe(0);
		}
	});
});
