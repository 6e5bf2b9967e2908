import fc from "fast-check";
import { expect, it } from "vitest";
import type { RowStatus } from "../../../src/outcomes.ts";
import { JournalUnreadable } from "../../../src/run/journal/errors.ts";
import { goodEntries } from "../../../src/run/journal/lines.ts";
import { readJournal } from "../../../src/run/journal/reader.ts";
import { JournalState } from "../../../src/run/journal/state.ts";
import { type JournalWriter, journalWriter } from "../../../src/run/journal/writer.ts";
import { chanceOf } from "../../support/chance.ts";
import { range } from "../../support/values.ts";
import { afterPowerLoss, FakeDisk, systemError } from "./fake-disk.ts";
import { header, identity, inPieces, outcome, sent } from "./support.ts";

type Step = "sent" | "outcome";

/**
 * How the process ends while records are written: the disk is full after so many bytes of them, or after so many operations
 * the process is killed or the power goes.
 */
type Fault = {
	readonly how: "full" | "killed" | "power";
	readonly at: Step;
	readonly taken: number;
	readonly operations: number;
	readonly seed: number;
};

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
	/** the rows of which that was being recorded when the process ended: either is right */
	uncertain: { readonly rows: readonly number[]; readonly at: Step } | undefined;
	/** records that were begun and are not there */
	lost = 0;

	#writer(): JournalWriter {
		return journalWriter(this.disk.open(), "file", this.disk.bytes.length, this.state);
	}

	/** A new process: reads what there is, cuts off what is torn, and begins an execution. */
	async resume(): Promise<void> {
		const { disk, uncertain: { rows = [], at } = {}, settled } = this;
		disk.fault = () => undefined;
		disk.gate = () => undefined;
		disk.mostTaken = Number.POSITIVE_INFINITY;
		const { state, goodLength } = await this.#read();
		disk.bytes = disk.bytes.subarray(0, goodLength);
		disk.durable = Math.min(disk.durable, goodLength);
		this.state = state;
		// What could be either way is now known.
		for (const row of rows) {
			const status = at === "outcome" ? state.statusOf(row) : undefined;
			if (status !== undefined) settled.set(row, status);
			if (at === "sent" && state.wasSent(row)) this.sent.add(row);
			if (at === "sent" ? !this.sent.has(row) : status === undefined) this.lost += 1;
		}
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

	/** Where a loss of power has damaged the journal, a repair keeps every good record. */
	async #read(): ReturnType<typeof readJournal> {
		const { disk } = this;
		try {
			return await readJournal(inPieces(disk.bytes, 64), "journal");
		} catch (error) {
			if (!(error instanceof JournalUnreadable)) throw error;
			const good: Uint8Array[] = [];
			for await (const { bytes } of goodEntries(inPieces(disk.bytes))) good.push(bytes, Buffer.from("\n"));
			disk.bytes = Buffer.concat(good);
			return await readJournal(inPieces(disk.bytes), "journal");
		}
	}

	/** Rows at once, from their sending to their outcome, unless a fault ends the process on the way. */
	async rows([status, count, fault]: readonly [RowStatus, number, Fault | undefined]): Promise<void> {
		const rows = range(count, this.next);
		this.next += count;
		for (const at of ["sent", "outcome"] as const) {
			const record = async (row: number): Promise<void> => {
				await this.journal.append(at === "sent" ? sent(row) : outcome(row, status));
				if (at === "sent") this.sent.add(row);
				else this.settled.set(row, status);
			};
			const isLast = fault?.at === at;
			const isDark = isLast ? this.#break(fault) : undefined;
			const recorded = Promise.all(rows.map(record));
			if (!isLast) await recorded;
			else {
				const end = await Promise.race([recorded.catch((error: unknown) => error), isDark]);
				const noSpace = expect.objectContaining({ message: expect.stringContaining("no space left") });
				if (fault.how === "full") expect(end).toEqual(noSpace);
				if (fault.how === "power") this.disk.bytes = afterPowerLoss(this.disk, chanceOf(fault.seed));
				const told = at === "sent" ? this.sent : this.settled;
				this.uncertain = { rows: rows.filter((row) => !told.has(row)), at };
				this.isOpen = false;
				return;
			}
		}
	}

	/** Resolves when the process has ended: the operation in which it ends never answers. */
	#break({ how, taken, operations }: Fault): Promise<void> {
		const { disk } = this;
		const before = disk.bytes.length;
		disk.mostTaken = taken;
		return new Promise((resolve) => {
			let left = operations;
			if (how === "full") disk.fault = () => (disk.bytes.length > before ? systemError("ENOSPC") : undefined);
			else {
				disk.gate = () => {
					if (left-- > 0) return undefined;
					resolve();
					return new Promise<never>(() => undefined);
				};
			}
		});
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

it("a run under random events, losses of power among them, has each recorded outcome once, and knows what was sent", async () => {
	const status = fc.constantFrom<RowStatus>("updated", "failed");
	const fault = fc.record({
		how: fc.constantFrom<Fault["how"]>("full", "killed", "power"),
		at: fc.constantFrom<Step>("sent", "outcome"),
		taken: fc.integer({ min: 1, max: 2_000 }),
		operations: fc.nat(12),
		seed: fc.nat(),
	});
	const count = fc.integer({ min: 1, max: 8 });
	const event = fc.oneof(
		{ weight: 1, arbitrary: fc.tuple(status, count, fc.constant(undefined)) },
		{ weight: 1, arbitrary: fc.tuple(status, count, fault) },
		{ weight: 2, arbitrary: fc.constantFrom("kill", "second process", "reopen") },
	);
	let lost = 0;
	await fc.assert(
		fc.asyncProperty(fc.array(event, { maxLength: 60, size: "max" }), async (events) => {
			const world = new World();
			await world.journal.append(header());
			for (const each of events) {
				if (!world.isOpen) await world.resume();
				else if (each === "kill") world.isOpen = false;
				else if (each === "second process") await world.secondProcess();
				else if (each === "reopen") await world.reopen();
				else await world.rows(each);
				if (world.isOpen) world.check();
			}
			await world.resume();
			lost += world.lost;
		}),
		{ numRuns: 200 },
	);
	// Otherwise no process ever ended in the middle of anything.
	expect(lost).toBeGreaterThan(100);
});
