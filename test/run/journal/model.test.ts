import fc from "fast-check";
import type { RowStatus } from "../../../src/outcomes.ts";
import { describe, expect, it } from "vitest";
import { readJournal } from "../../../src/run/journal/reader.ts";
import { JournalState } from "../../../src/run/journal/state.ts";
import { JournalWriter } from "../../../src/run/journal/writer.ts";

import { FakeDisk, systemError } from "./fake-disk.ts";
import { header, identity, inPieces, outcome, ROWS, sent } from "./support.ts";

/** What a run on disk must come to: the reference, which knows nothing of bytes. */
type Model = {
	/** whether a process works on the run */
	open: boolean;
	next: number;
	/** rows of which a process was told that their outcome is durable */
	readonly settled: Map<number, RowStatus>;
	/** rows of which it was told that they may be sent */
	readonly sent: Set<number>;
	/** rows whose outcome, or whose sending, was being recorded when the process ended: either is right */
	readonly uncertain: { outcome: number | undefined; sent: number | undefined };
};

/** The journal of a run, and the process that writes it. */
class Real {
	readonly disk = new FakeDisk();
	state = new JournalState();
	journal = this.#writer();

	#writer(): JournalWriter {
		return new JournalWriter(this.disk.open(), "file", this.disk.bytes.length, this.state);
	}

	/** A new process: reads what there is, cuts off what is torn, and begins an execution. */
	async resume(model: Model): Promise<void> {
		const { disk } = this;
		disk.fault = () => undefined;
		disk.gate = () => undefined;
		const { state, goodLength } = await readJournal(inPieces(disk.bytes, 64), "journal");
		disk.bytes = disk.bytes.subarray(0, goodLength);
		this.state = state;
		// What could be either way is now known.
		const { uncertain } = model;
		if (uncertain.outcome !== undefined) {
			const status = state.statusOf(uncertain.outcome);
			if (status !== undefined) model.settled.set(uncertain.outcome, status);
		}
		if (uncertain.sent !== undefined && state.wasSent(uncertain.sent)) model.sent.add(uncertain.sent);
		uncertain.outcome = undefined;
		uncertain.sent = undefined;
		for (let row = 0; row < model.next; row++) {
			expect(state.statusOf(row)).toBe(model.settled.get(row));
			expect(state.wasSent(row)).toBe(model.sent.has(row));
		}
		expect(state.countInDoubt()).toBe([...model.sent].filter((row) => !model.settled.has(row)).length);
		this.journal = this.#writer();
		await this.journal.append(header());
		model.open = true;
		this.check(model);
	}

	check(model: Model): void {
		expect(identity(this.state)).toBe(true);
		const totals = this.state.totals();
		const failed = [...model.settled.values()].filter((status) => status === "failed").length;
		expect(totals).toMatchObject({ failed, updated: model.settled.size - failed });
	}
}

type Command = fc.AsyncCommand<Model, Real, false>;

/** One row from its sending to its outcome, unless something ends the process on the way. */
class Row implements Command {
	readonly status: RowStatus;
	readonly fault: "none" | "full" | "killed";
	readonly at: "sent" | "outcome";
	readonly taken: number;

	constructor(status: RowStatus, fault: "none" | "full" | "killed", at: "sent" | "outcome", taken: number) {
		this.status = status;
		this.fault = fault;
		this.at = at;
		this.taken = taken;
	}

	check(model: Readonly<Model>): boolean {
		return model.open && model.next < ROWS - 5;
	}

	async run(model: Model, real: Real): Promise<void> {
		const row = model.next++;
		if (!(await this.#step(model, real, "sent", row, () => real.journal.append(sent(row))))) return;
		model.sent.add(row);
		const end = outcome(row, this.status);
		if (!(await this.#step(model, real, "outcome", row, () => real.journal.append(end)))) return;
		model.settled.set(row, this.status);
		real.check(model);
	}

	/** @returns whether the process still runs, and was told that the record is durable */
	async #step(model: Model, real: Real, at: Row["at"], row: number, append: () => Promise<void>): Promise<boolean> {
		const { disk } = real;
		if (this.fault === "none" || this.at !== at) {
			await append();
			return true;
		}
		const before = disk.bytes.length;
		disk.mostTaken = this.taken;
		let dark = (): void => undefined;
		const killed = new Promise<"killed">((resolve) => (dark = () => resolve("killed")));
		if (this.fault === "full") disk.fault = () => (disk.bytes.length > before ? systemError("ENOSPC") : undefined);
		else {
			disk.gate = () => {
				if (disk.bytes.length === before) return undefined;
				dark();
				return new Promise<never>(() => undefined);
			};
		}
		const told = await Promise.race([
			append().then(
				() => "durable",
				(error: unknown) => error,
			),
			killed,
		]);
		if (this.fault === "full") expect(told).toMatchObject({ message: expect.stringContaining("no space left") });
		else expect(told).toBe("killed");
		disk.mostTaken = Number.POSITIVE_INFINITY;
		model.uncertain[at] = row;
		model.open = false;
		return false;
	}

	toString(): string {
		return this.fault === "none" ? this.status : `${this.status} but ${this.fault} at ${this.at} after ${this.taken}`;
	}
}

class Kill implements Command {
	check(model: Readonly<Model>): boolean {
		return model.open;
	}

	async run(model: Model): Promise<void> {
		model.open = false;
	}

	toString(): string {
		return "kill";
	}
}

class Resume implements Command {
	check(model: Readonly<Model>): boolean {
		return !model.open;
	}

	async run(model: Model, real: Real): Promise<void> {
		await real.resume(model);
	}

	toString(): string {
		return "resume";
	}
}

/** Another process begins although one is at it: what the lock is to prevent, and the fence then ends. */
class SecondProcess implements Command {
	check(model: Readonly<Model>): boolean {
		return model.open;
	}

	async run(model: Model, real: Real): Promise<void> {
		const { journal } = real;
		await real.resume(model);
		const before = Buffer.from(real.disk.bytes);
		await expect(journal.append(outcome(model.next))).rejects.toThrow("another program");
		expect(real.disk.bytes.equals(before)).toBe(true);
	}

	toString(): string {
		return "second process";
	}
}

class Reopen implements Command {
	check(model: Readonly<Model>): boolean {
		return model.open;
	}

	async run(model: Model, real: Real): Promise<void> {
		await real.journal.append({ kind: "reopen", time: "t" });
		for (const [row, status] of model.settled) if (status === "failed") model.settled.delete(row);
		real.check(model);
	}

	toString(): string {
		return "reopen";
	}
}

describe("a run under random events", () => {
	it("has each recorded outcome once after each resume, and knows the rows that were never sent", async () => {
		const status = fc.constantFrom<RowStatus>("updated", "failed");
		const at = fc.constantFrom<Row["at"]>("sent", "outcome");
		const fault = fc.constantFrom<Row["fault"]>("full", "killed");
		const commands = fc.commands<Model, Real, false>(
			[
				status.map((end) => new Row(end, "none", "sent", 0)),
				fc.tuple(status, fault, at, fc.integer({ min: 1, max: 200 })).map((row) => new Row(...row)),
				fc.constant(new Kill()),
				fc.constant(new Resume()),
				fc.constant(new SecondProcess()),
				fc.constant(new Reopen()),
			],
			{ maxCommands: 60 },
		);
		await fc.assert(
			fc.asyncProperty(commands, async (all) => {
				const setup = async (): Promise<{ model: Model; real: Real }> => {
					const uncertain = { outcome: undefined, sent: undefined };
					const model: Model = { open: true, next: 0, settled: new Map(), sent: new Set(), uncertain };
					const real = new Real();
					await real.journal.append(header());
					return { model, real };
				};
				const started = await setup();
				await fc.asyncModelRun(() => started, all);
				await started.real.resume(started.model);
			}),
			{ numRuns: 200 },
		);
	});
});
