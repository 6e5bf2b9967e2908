import fc from "fast-check";
import { expect, it } from "vitest";
import type { RowStatus } from "../../../src/outcomes.ts";
import type { JournalRecord } from "../../../src/run/journal/records.ts";
import { readJournal } from "../../../src/run/journal/reader.ts";
import { JournalState } from "../../../src/run/journal/state.ts";
import { JournalWriter } from "../../../src/run/journal/writer.ts";
import { FakeDisk, systemError } from "./fake-disk.ts";
import { header, identity, inPieces, outcome, ROWS, sent } from "./support.ts";

type Step = "sent" | "outcome";

/** The end of the process while a record is written, after so many bytes of it. */
type Fault = { readonly how: "full" | "killed"; readonly at: Step; readonly taken: number };

/** A run on disk and the process that writes it, with what it must come to: that knows nothing of bytes. */
class World {
	readonly disk = new FakeDisk();
	state = new JournalState();
	journal = this.#writer();
	/** whether a process works on the run */
	isOpen = true;
	next = 0;
	/** rows of which a process was told that their outcome, or that they may be sent, is durable */
	readonly settled = new Map<number, RowStatus>();
	readonly sent = new Set<number>();
	/** the row of which that was being recorded when the process ended: either is right */
	uncertain: { readonly row: number; readonly at: Step } | undefined;

	#writer(): JournalWriter {
		return new JournalWriter(this.disk.open(), "file", this.disk.bytes.length, this.state);
	}

	/** A new process: reads what there is, cuts off what is torn, and begins an execution. */
	async resume(): Promise<void> {
		const { disk, uncertain, settled } = this;
		disk.fault = () => undefined;
		disk.gate = () => undefined;
		const { state, goodLength } = await readJournal(inPieces(disk.bytes, 64), "journal");
		disk.bytes = disk.bytes.subarray(0, goodLength);
		this.state = state;
		// What could be either way is now known.
		const status = uncertain?.at === "outcome" ? state.statusOf(uncertain.row) : undefined;
		if (uncertain !== undefined && status !== undefined) settled.set(uncertain.row, status);
		if (uncertain?.at === "sent" && state.wasSent(uncertain.row)) this.sent.add(uncertain.row);
		this.uncertain = undefined;
		for (let row = 0; row < this.next; row++) {
			expect([state.statusOf(row), state.wasSent(row)]).toEqual([settled.get(row), this.sent.has(row)]);
		}
		expect(state.countInDoubt()).toBe([...this.sent].filter((row) => !settled.has(row)).length);
		this.journal = this.#writer();
		await this.journal.append(header());
		this.isOpen = true;
		this.check();
	}

	/** A row from its sending to its outcome, unless a fault ends the process on the way. */
	async row([status, fault]: readonly [RowStatus, Fault | undefined]): Promise<void> {
		const row = this.next++;
		if (fault?.at === "sent") return await this.#end(fault, row, sent(row));
		await this.journal.append(sent(row));
		this.sent.add(row);
		if (fault !== undefined) return await this.#end(fault, row, outcome(row, status));
		await this.journal.append(outcome(row, status));
		this.settled.set(row, status);
	}

	async #end({ how, at, taken }: Fault, row: number, record: JournalRecord): Promise<void> {
		const { disk } = this;
		const before = disk.bytes.length;
		disk.mostTaken = taken;
		let dark = (): void => undefined;
		const killed = new Promise<"killed">((resolve) => (dark = () => resolve("killed")));
		if (how === "full") disk.fault = () => (disk.bytes.length > before ? systemError("ENOSPC") : undefined);
		else {
			disk.gate = () => {
				if (disk.bytes.length === before) return undefined;
				dark();
				return new Promise<never>(() => undefined);
			};
		}
		const appended = this.journal.append(record).catch((error: unknown) => error);
		const noSpace = expect.objectContaining({ message: expect.stringContaining("no space left") });
		expect(await Promise.race([appended, killed])).toEqual(how === "full" ? noSpace : "killed");
		disk.mostTaken = Number.POSITIVE_INFINITY;
		this.uncertain = { row, at };
		this.isOpen = false;
	}

	/** Another process begins although one is at it: the lock is to prevent that, and the check of the file then ends it. */
	async secondProcess(): Promise<void> {
		const { journal } = this;
		await this.resume();
		const before = Buffer.from(this.disk.bytes);
		await expect(journal.append(outcome(this.next))).rejects.toThrow("another program");
		expect(this.disk.bytes.equals(before)).toBe(true);
	}

	async reopen(): Promise<void> {
		await this.journal.append({ kind: "reopen", time: "t" });
		for (const [row, status] of this.settled) if (status === "failed") this.settled.delete(row);
	}

	check(): void {
		const failed = [...this.settled.values()].filter((status) => status === "failed").length;
		expect(identity(this.state)).toBe(true);
		expect(this.state.totals()).toMatchObject({ failed, updated: this.settled.size - failed });
	}
}

it("a run under random events has each recorded outcome once, and knows the rows that were never sent", async () => {
	const status = fc.constantFrom<RowStatus>("updated", "failed");
	const at = fc.constantFrom<Step>("sent", "outcome");
	const how = fc.constantFrom<Fault["how"]>("full", "killed");
	const fault = fc.record({ how, at, taken: fc.integer({ min: 1, max: 200 }) });
	const event = fc.oneof(
		{ weight: 1, arbitrary: fc.tuple(status, fc.constant(undefined)) },
		{ weight: 1, arbitrary: fc.tuple(status, fault) },
		{ weight: 2, arbitrary: fc.constantFrom("kill", "second process", "reopen") },
	);
	await fc.assert(
		fc.asyncProperty(fc.array(event, { maxLength: 60, size: "max" }), async (events) => {
			const world = new World();
			await world.journal.append(header());
			for (const each of events) {
				if (!world.isOpen) await world.resume();
				else if (each === "kill") world.isOpen = false;
				else if (each === "second process") await world.secondProcess();
				else if (each === "reopen") await world.reopen();
				else if (world.next < ROWS - 5) await world.row(each);
				if (world.isOpen) world.check();
			}
			await world.resume();
		}),
		{ numRuns: 200 },
	);
});
