import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { parseShard, shardIndexOf } from "../../src/shard.ts";
import { type Ended, envOf, ragtag, type World } from "./ragtag.ts";
import { file, folder, serve, type Service } from "./service.ts";
import { at, range, summaryOf } from "./values.ts";

export type Recorded = {
	readonly service: Service;
	readonly home: string;
	/** where runs are kept */
	readonly state: string;
	/** runs the program in this home, against the service, one request at a time */
	run(argv: readonly string[], world?: World): Promise<Ended>;
	/** path of a file of a run */
	path(run: string, name: string): string;
	/** names of the run folders */
	folders(): Promise<string[]>;
	/** updates and what else writes, that the service confirmed */
	writes(): number;
};

export type RecordedOptions = NonNullable<Parameters<typeof serve>[1]>;

/** A service of so many documents, and a user with a home of their own. */
export async function recorded(documents: number, options: RecordedOptions = {}): Promise<Recorded> {
	const service = await serve(documents, options);
	const home = await folder();
	const state = join(home, ".local", "state", "ragtag");
	return {
		service,
		home,
		state,
		run: (argv, world = {}) => ragtag(argv, { env: envOf(service), home, ...world }),
		path: (run, name) => join(state, "runs", run, name),
		folders: async () => (await readdir(join(state, "runs")).catch(() => [])).filter((name) => /^\d/.test(name)),
		writes: () => service.requests.filter((line) => !line.startsWith("GET") && line.endsWith(" 200")).length,
	};
}

/** The key is refused at the n-th write, once, and for certain: a run of one request at a time stops there with exit 4. */
export const stopAt = (nth: number | readonly number[], method = "PUT"): RecordedOptions => ({
	faults: { faults: [{ fault: "code", code: 109, when: "before", on: { method, nth } }] },
});

/** The service refuses these requests, and their rows fail. */
export const refuseAt = (nth: number | readonly number[], method = "PUT"): RecordedOptions => ({
	faults: { faults: [{ fault: "code", code: 102, when: "before", on: { method, nth } }] },
});

/** A manifest of a row for each document, and the arguments that tag it, one row after the other. */
export async function tagging({ service }: Recorded): Promise<{ path: string; argv: string[] }> {
	const lines = (await service.ids()).map((id, n) => `${id},${n}\n`);
	const path = await file("tags.csv", `document_id,n:number\n${lines.join("")}`);
	return { path, argv: ["docs", "tag", path, "-d", service.dataset, ...ONE_BY_ONE] };
}

type ToTag = { readonly world: Recorded; readonly path: string; readonly argv: string[] };

/** Such a service and user, and what tags all of its documents. */
export async function toTag(documents: number, options: RecordedOptions = {}): Promise<ToTag> {
	const world = await recorded(documents, options);
	return { world, ...(await tagging(world)) };
}

/** The same, after that run. Its name. */
export async function tagged(documents: number, options: RecordedOptions = {}): Promise<ToTag & { run: string }> {
	const made = await toTag(documents, options);
	return { ...made, run: runOf((await made.world.run(made.argv)).stdout) };
}

/** What each document has under `n`, which `tagging` writes. */
export const heldNumbers = async ({ service }: Recorded): Promise<unknown[]> =>
	(await service.documents()).map(({ metadata }) => at(metadata, "n"));

export const ONE_BY_ONE = ["--concurrency", "1", "--chunk", "1", "--rate", "5000", "--json"];

/** The name of the run that a summary tells. */
export function runOf(stdout: string): string {
	const run = at(summaryOf(stdout), "run");
	expect(run).toEqual(expect.stringMatching(/^\d{8}T\d{6}-[0-9a-f]{6}$/));
	return String(run);
}

/** The command that a summary says goes on, as arguments. */
export function resumeOf(stdout: string): string[] {
	const resume = String(at(summaryOf(stdout), "resume"));
	expect(resume).toMatch(/^ragtag runs resume /);
	return resume.split(" ").slice(1);
}

/** Tags all documents in so many shards, one request after the other. The names of their runs, in the order of the shards. */
export async function inShards(world: Recorded, count: number, more: readonly string[] = []): Promise<string[]> {
	const { path } = await tagging(world);
	const tag = ["docs", "tag", path, "-d", world.service.dataset, "--rate", "5000", "--concurrency", "1", "--json"];
	const runs: string[] = [];
	for (const n of range(count))
		runs.push(runOf((await world.run([...tag, ...more, "--shard", `${n + 1}/${count}`])).stdout));
	return runs;
}

/** How many documents are in a shard. */
export async function inShard({ service }: Recorded, shard: string): Promise<number> {
	const { index, count } = parseShard(shard) ?? { index: 0, count: 1 };
	return (await service.ids()).filter((id) => shardIndexOf(id, count) === index).length;
}
