import { readFile } from "node:fs/promises";
import { expect } from "vitest";
import { program, type Running, start } from "../../support/program.ts";
import { type Ended, envOf } from "../../support/ragtag.ts";
import { at, summaryOf } from "../../support/values.ts";
import { bounded, manifestOf, outcomesOf, type Service, serviceOf, stateOf, withoutKeyIn } from "./trial.ts";
import { idOf } from "../../support/service.ts";

/** Requests in flight at most: what a crash may send twice. */
export const IN_FLIGHT = 4;

export type Halfway = Ended & {
	readonly service: Service;
	readonly state: string;
	readonly manifest: string;
	readonly first: number;
	/** the same command again */
	again(args?: readonly string[]): Promise<Ended>;
};

let turns = 0;

/** A run of the program that something happens to when some of its rows are written, and some are not. */
export async function halfway(
	happens: (running: Running, half: { readonly state: string; readonly manifest: string }) => Promise<void> | void,
	options: {
		readonly rows?: number;
		readonly after?: number;
		readonly args?: readonly string[];
		readonly env?: Readonly<Record<string, string>>;
		readonly stdin?: boolean;
	} = {},
): Promise<Halfway> {
	const { rows = 50, after = 10, args = [], env = {}, stdin = false } = options;
	const service = await serviceOf("documented");
	const { control, sandbox, dataset, learned } = service;
	control.reset();
	const delay = (milliseconds: number, on: object) => ({ fault: "delay", milliseconds, on: { method: "PUT", ...on } });
	// Rows are left however late a busy machine sees that these are written.
	control.setPlan({ faults: [delay(30, { to: after }), delay(2_000, { from: after + 1 })] });
	const state = await stateOf(learned);
	const first = 100_000 + ++turns * 1000;
	const manifest = await manifestOf(rows, first);
	const given = [stdin ? "-" : manifest, "-d", dataset, "--concurrency", String(IN_FLIGHT)];
	const argv = ["docs", "tag", ...given, "--json", "--rate", "5000", "--state-dir", state];
	const surroundings = { ...envOf(sandbox), ...env };
	const text = stdin ? await readFile(manifest, "utf8") : "";
	const running = start([...argv, ...args], surroundings, text);
	await expect.poll(() => control.counts().applied).toBeGreaterThanOrEqual(after);
	control.setPlan({ faults: [delay(30, {})] });
	await happens(running, { state, manifest });
	const ended = await bounded(running);
	await withoutKeyIn(ended, state);
	const again = async (more: readonly string[] = []): Promise<Ended> => {
		const next = await program([...argv, ...more], surroundings);
		await withoutKeyIn(next, state);
		return next;
	};
	return { ...ended, service, state, manifest, first, again };
}

/** The run goes on and reaches its end: all rows are there, counted once, and hardly any was sent twice. */
export async function goesOn({ service, state, first }: Halfway, rows: number, crashes: number): Promise<void> {
	const { control, sandbox } = service;
	const resumed = await program(["runs", "resume", "--json", "--state-dir", state, "--rate", "5000"], envOf(sandbox));
	expect({ exit: resumed.exit, stderr: resumed.exit === 0 ? "" : resumed.stderr }).toEqual({ exit: 0, stderr: "" });
	expect(summaryOf(resumed.stdout)).toMatchObject({ rows, updated: rows, failed: 0, pending: 0 });
	await withoutKeyIn(resumed, state);
	await allThere(service, state, first, rows);
	expect(control.counts().applied).toBeLessThanOrEqual(rows + crashes * IN_FLIGHT);
}

/** Each row has one outcome in the journal, and its value on the server; nothing else was written. */
export async function allThere(service: Service, state: string, first: number, rows: number): Promise<void> {
	const values = new Map<string, unknown>();
	for (const entry of service.control.ledger()) {
		if (entry.type === "applied") values.set(String(entry.document), at(entry.meta_fields, "n"));
	}
	const outcomes = await outcomesOf(state);
	expect([outcomes.size, values.size]).toEqual([rows, rows]);
	for (const [row, { status, id }] of outcomes) {
		expect([status, id, values.get(id)]).toEqual(["updated", idOf(row + 1), first + row]);
	}
}
