import { cp, mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, onTestFinished } from "vitest";
import type { FaultPlan, PlannedFault } from "../../../src/sandbox/faults/plan.ts";
import type { Flavour } from "../../../src/sandbox/flavours/index.ts";
import { type Sandbox, type SandboxOptions, startSandbox } from "../../../src/sandbox/index.ts";
import { expectFired } from "../../support/faults.ts";
import { journalLines, STATUSES } from "../../support/journal-lines.ts";
import { program, type Running, start } from "../../support/program.ts";
import { envOf, type Ended } from "../../support/ragtag.ts";
import { file, folder, idOf, KEY, withoutKey } from "../../support/service.ts";
import { at, linesOf, parseLines, summaryOf } from "../../support/values.ts";

/** Documents of each sandbox: no manifest here is longer. */
const DOCUMENTS = 60;

export type Service = {
	readonly flavour: Flavour;
	readonly sandbox: Sandbox;
	readonly control: NonNullable<Sandbox["control"]>;
	readonly dataset: string;
	/** the verb of its updates */
	readonly verb: "PUT" | "PATCH";
	/** a state folder that knows it already */
	readonly learned: string;
};

const services = new Map<Flavour, Promise<Service>>();

/** The sandbox of that flavour: one for all tests of a file. It has been written to once, and is known. */
export function serviceOf(flavour: Flavour): Promise<Service> {
	const known = services.get(flavour) ?? open(flavour);
	services.set(flavour, known);
	return known;
}

afterAll(async () => {
	for (const opened of services.values()) {
		const service = await opened;
		await service.sandbox.close();
		await rm(service.learned, { recursive: true, force: true });
	}
	services.clear();
});

/** A sandbox of the test's own, which it may close. */
export async function ownService(options: Partial<SandboxOptions> = {}): Promise<Service> {
	const service = await open("documented", options);
	onTestFinished(async () => {
		await service.sandbox.close();
		await rm(service.learned, { recursive: true, force: true });
	});
	return service;
}

async function open(flavour: Flavour, options: Partial<SandboxOptions> = {}): Promise<Service> {
	const sandbox = await startSandbox({ port: 0, key: KEY, documents: DOCUMENTS, control: true, flavour, ...options });
	const { control, datasetId } = sandbox;
	if (control === undefined || datasetId === undefined) throw new Error("the sandbox has no control address");
	const verb = flavour >= "ragflow-0.25" ? "PATCH" : "PUT";
	const learned = await mkdtemp(join(tmpdir(), "ragtag-learned-"));
	const service = { flavour, sandbox, control, dataset: datasetId, verb, learned } as const;
	const path = await manifestOf(1, 0);
	const argv = ["docs", "tag", path, "-d", datasetId, "--state-dir", learned];
	const { exit, stderr } = await program(argv, envOf(sandbox));
	if (exit !== 0) throw new Error(`a sandbox without faults was not written to: ${stderr}`);
	return service;
}

/** The sandbox of that flavour under a plan of faults, and a state folder of the test's own that knows it. */
export async function planned(flavour: Flavour, faults: readonly PlannedFault[] = []) {
	const service = await serviceOf(flavour);
	service.control.reset();
	service.control.setPlan({ faults: [...faults] });
	return { ...service, state: await stateOf(service.learned), env: envOf(service.sandbox) };
}

/** Uploads files under a plan of faults, one after the other, and tells which documents the service has stored. */
export async function uploaded(flavour: Flavour, paths: readonly string[], faults: readonly PlannedFault[]) {
	const { control, dataset, state, env } = await planned(flavour, faults);
	const options = ["--concurrency", "1", "--timeout", "1s", "--state-dir", state];
	const ended = await program(["docs", "upload", ...paths, "-d", dataset, "--json", ...options], env);
	await withoutKeyIn(ended, state);
	const stored = control
		.ledger()
		.flatMap((entry) => (entry.type === "applied" && entry.action === "upload" ? [entry.document] : []));
	return { ...ended, summary: summaryOf(ended.stdout), stored, fired: control.plan().map(({ fired }) => fired) };
}

/** A manifest of that many rows, for the first documents; `first` is the value of its first row. */
export function manifestOf(rows: number, first: number): Promise<string> {
	return file("tags.csv", `document_id,n:number\n${linesOf(rows, (n) => `${idOf(n + 1)},${first + n}`)}`);
}

/** A state folder of a program that knows these sandboxes. */
export async function stateOf(learned?: string): Promise<string> {
	const state = join(await folder(), "state");
	await mkdir(state, { mode: 0o700 });
	if (learned !== undefined) await cp(join(learned, "services"), join(state, "services"), { recursive: true });
	return state;
}

/** A fault, and which requests meet it. Without `row` and `on` it is every update. */
export type Planned = PlannedFault & {
	/** the document of that row, from 1 */
	readonly row?: number;
	/** tries of that row which meet it; absent: each */
	readonly tries?: number;
};

export type TrialOptions = {
	readonly faults: readonly Planned[];
	/** rows of the manifest */
	readonly rows?: number;
	readonly args?: readonly string[];
	readonly env?: Readonly<Record<string, string>>;
	readonly exit: number;
	/** counts of the summary; those that are left out must be 0, except for `updated`, which is the rest */
	readonly counts?: Readonly<Record<string, number>>;
	/** the rows that fail, from 1, with their codes */
	readonly failed?: Readonly<Record<number, string | RegExp>>;
	/** a state folder to use, in place of one that knows the service */
	readonly state?: string;
	/** another way to the service than its own address */
	readonly url?: string;
	/** what happens while the program runs */
	readonly during?: (running: Running) => Promise<void>;
};

export type Trial = Ended & {
	readonly summary: unknown;
	readonly state: string;
	readonly service: Service;
	/** ids of the documents that the journal has as updated */
	readonly updated: ReadonlySet<string>;
	/** arrivals of updates, by the server's clock, in milliseconds, in order; with the document */
	readonly arrivals: readonly { readonly time: number; readonly document: string; readonly status: number | null }[];
};

/** Longest that one run of the program may take, in milliseconds: a run that hangs is to say where. */
const LONGEST = 45_000;

/** How a run ended. One that takes too long fails with what it has written. */
export async function bounded(running: Running, longest = LONGEST): Promise<Ended> {
	let timer: NodeJS.Timeout | undefined;
	const late = new Promise<never>((_, reject) => {
		timer = setTimeout(() => {
			running.child.kill("SIGKILL");
			reject(new Error(`still running after ${longest} ms: ${running.out().slice(-500)}${running.err().slice(-2000)}`));
		}, longest);
	});
	try {
		return await Promise.race([running.ended, late]);
	} finally {
		clearTimeout(timer);
	}
}

let trials = 0;

/** A run of the program under a plan of faults, held to the four things that every fault test asserts. */
export async function trial(on: Flavour | Service, options: TrialOptions): Promise<Trial> {
	const service = typeof on === "string" ? await serviceOf(on) : on;
	const { control, sandbox, dataset } = service;
	const { rows = 20, url = sandbox.url } = options;
	const state = options.state ?? (await stateOf(options.url === undefined ? service.learned : undefined));
	const first = ++trials * 1000;
	control.reset();
	control.setPlan(planOf(service, options.faults));
	const path = await manifestOf(rows, first);
	const argv = ["docs", "tag", path, "-d", dataset, "--json", "--rate", "5000", "--state-dir", state];
	const running = start([...argv, ...(options.args ?? [])], { ...envOf({ url }), ...options.env });
	await options.during?.(running);
	const ended = await bounded(running);
	if (options.faults.length > 0) expectFired({ control });
	const summary = await accounted(ended, options, state);
	const updated = await agreesWithLedger({ service, state, rows, first, summary });
	control.setPlan({ faults: [] });
	return { ...ended, summary, state, service, updated, arrivals: arrivalsOf(service) };
}

function planOf({ verb }: Service, faults: readonly Planned[]): FaultPlan {
	const plan = faults.map(({ row, tries, on, ...fault }) => {
		const narrow = row === undefined ? {} : { document: idOf(row), ...(tries === undefined ? {} : { times: tries }) };
		return { ...fault, on: on ?? { method: verb, ...narrow } };
	});
	return { seed: 1, faults: plan };
}

/** Exit code, counts, codes of the failed rows, and no key anywhere. */
async function accounted(ended: Ended, options: TrialOptions, state: string): Promise<unknown> {
	const { exit, stdout, stderr } = ended;
	const { rows = 20, counts = {}, failed } = options;
	expect({ exit, stderr: exit === options.exit ? "" : stderr }).toEqual({ exit: options.exit, stderr: "" });
	const summary = summaryOf(stdout);
	expect(summary).toMatchObject({ rows, exit_code: options.exit, ...counts });
	if (failed !== undefined) {
		const lines = parseLines(stdout).filter((line) => at(line, "type") === "row" && at(line, "status") === "failed");
		const codes = Object.fromEntries(lines.map((line) => [Number(at(line, "line")) - 1, at(line, "error_code")]));
		expect(Object.keys(codes)).toEqual(Object.keys(failed));
		for (const [row, code] of Object.entries(failed)) expect(String(codes[row])).toMatch(code);
	}
	if (options.exit === 0) expect(summary).toMatchObject({ updated: rows });
	await withoutKeyIn(ended, state);
	return summary;
}

/** The key is in no output and no file of the state folder, nor six characters of it. */
export async function withoutKeyIn({ stdout, stderr }: Ended, state: string, key = KEY): Promise<void> {
	withoutKey(stdout + stderr, key);
	for (const entry of await readdir(state, { recursive: true, withFileTypes: true })) {
		if (entry.isFile()) withoutKey(await readFile(join(entry.parentPath, entry.name), "latin1"), key);
	}
}

/** The outcomes that a journal has, by row from 0: independent of the program's own reader. */
export async function outcomesOf(
	state: string,
): Promise<Map<number, { readonly status: string; readonly id: string }>> {
	const runs = join(state, "runs");
	const names = (await readdir(runs)).filter((name) => !name.startsWith(".")).toSorted();
	const outcomes = new Map<number, { status: string; id: string }>();
	const name = names.at(-1);
	if (name === undefined) return outcomes;
	for (const { code, row, document: id } of await journalLines(join(runs, name, "journal.log"))) {
		if (code === "re") for (const [each, { status }] of outcomes) if (status === "failed") outcomes.delete(each);
		const status = STATUSES.get(code);
		if (status === undefined) continue;
		if (outcomes.has(row)) throw new Error(`the journal has two outcomes of row ${row}`);
		outcomes.set(row, { status, id });
	}
	return outcomes;
}

type Agreement = {
	readonly service: Service;
	readonly state: string;
	readonly rows: number;
	readonly first: number;
	readonly summary: unknown;
};

/** What the journal and the summary call updated, the server applied with the row's value; and nothing else. */
async function agreesWithLedger({ service, state, rows, first, summary }: Agreement): Promise<Set<string>> {
	const outcomes = await outcomesOf(state);
	const applied = new Map<string, Set<string>>();
	for (const entry of service.control.ledger()) {
		if (entry.type !== "applied") continue;
		const number = Number.parseInt(String(entry.document), 16);
		if (!(number >= 1 && number <= rows)) throw new Error(`${entry.document} was written, and is not in the manifest`);
		const texts = applied.get(String(entry.document)) ?? new Set();
		applied.set(String(entry.document), texts.add(String(at(entry.meta_fields, "n"))));
	}
	const updated = new Set<string>();
	for (const [row, { status, id }] of outcomes) {
		if (status !== "updated") continue;
		updated.add(id);
		expect(id).toBe(idOf(row + 1));
		const wanted = String(first + row);
		if (applied.get(id)?.has(wanted) !== true)
			throw new Error(`${id} counts as updated, and the server never applied ${wanted}`);
	}
	expect(updated.size).toBe(at(summary, "updated"));
	return updated;
}

function arrivalsOf({ control, verb }: Service): Trial["arrivals"] {
	return control
		.ledger()
		.flatMap((entry) =>
			entry.type === "request" && entry.method === verb
				? [{ time: Date.parse(String(entry.time)), document: String(entry.document), status: entry.status }]
				: [],
		)
		.toSorted((a, b) => a.time - b.time);
}

/** How often a document's update was asked for, in the trial that was last. */
export function asksFor({ arrivals }: Pick<Trial, "arrivals">, row: number): number {
	return arrivals.filter(({ document }) => document === idOf(row)).length;
}
