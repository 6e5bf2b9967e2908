import { noOutcomes, type RowStatus, type Success, SUCCESSES } from "../../outcomes.ts";

/** A row without it was never sent: its record is durable before the first byte of its write. */
export const SENT = 1;
/** the file of the row was stored */
export const STORED = 2;
/** the first write of the row was recorded without a before-image */
export const NO_BEFORE_IMAGE = 4;
/** the row failed, and certainly nothing of it was applied */
export const UNTOUCHED = 8;

/** The bits above, and by how many bits the outcome is shifted. */
const FACTS = 15;
const OUTCOME_SHIFT = 4;

/** The first outcome of a failed row. Each number from here on stands for a code. */
const FAILED = SUCCESSES.length + 1;

/** What was sent of each row, and its outcome: its status, or the code with which it failed. A subclass changes them. */
export abstract class RowStates {
	readonly #rows = new RowNumbers();
	readonly #codes: string[] = [];
	readonly #outcomeOf = new Map<string, number>();
	/** number of rows with each outcome; the first is how many have lost theirs, less those that got one */
	readonly #rowsWith = [0];
	/** number of rows that may have been sent */
	protected sent = 0;

	/** undefined for a row that is not settled */
	statusOf(row: number): RowStatus | undefined {
		const outcome = this.#outcome(row);
		return outcome >= FAILED ? "failed" : SUCCESSES[outcome - 1];
	}

	/** The code with which a row failed; undefined for any other row. */
	codeOf(row: number): string | undefined {
		return this.#codes[this.#outcome(row) - FAILED];
	}

	protected setSucceeded(row: number, status: Success): void {
		this.#settle(row, SUCCESSES.indexOf(status) + 1);
	}

	protected setFailed(row: number, code: string): void {
		const outcome = this.#outcomeOf.get(code) ?? FAILED + this.#codes.push(code) - 1;
		this.#outcomeOf.set(code, outcome);
		this.#settle(row, outcome);
	}

	/** The codes of all failed rows, each once. */
	failedCodes(): readonly string[] {
		return this.#codes.filter((code) => this.failedWith(code) > 0);
	}

	/** The number of rows that failed with that code. */
	failedWith(code: string): number {
		const outcome = this.#outcomeOf.get(code);
		return outcome === undefined ? 0 : (this.#rowsWith[outcome] ?? 0);
	}

	/** The number of rows that have an outcome. */
	protected get settled(): number {
		return -(this.#rowsWith[0] ?? 0);
	}

	/** The number of rows of each status. */
	protected counts(): Record<RowStatus, number> {
		const counts = noOutcomes();
		for (const [at, status] of SUCCESSES.entries()) counts[status] = this.#rowsWith[at + 1] ?? 0;
		counts.failed = this.#rowsWith.slice(FAILED).reduce((sum, rows) => sum + rows, 0);
		return counts;
	}

	protected has(row: number, bit: number): boolean {
		return (this.#rows.get(row) & bit) !== 0;
	}

	protected add(row: number, bits: number): void {
		if ((bits & SENT) !== 0 && !this.has(row, SENT)) this.sent += 1;
		this.#rows.set(row, this.#rows.get(row) | bits);
	}

	protected remove(row: number, bit: number): void {
		if (this.has(row, bit)) this.#rows.set(row, this.#rows.get(row) & ~bit);
	}

	/** The number of rows that are counted, of those up to the last of which anything is known. */
	protected count(isCounted: (row: number) => boolean): number {
		let count = 0;
		for (let row = 0; row < this.#rows.length; row++) if (isCounted(row)) count += 1;
		return count;
	}

	/** Makes failed rows pending again: those with one of the codes, or all of them. They count as touched. */
	protected reopen(codes: ReadonlySet<string> | undefined): void {
		for (let row = 0; row < this.#rows.length; row++) {
			const code = this.codeOf(row);
			if (code === undefined || codes?.has(code) === false) continue;
			this.#settle(row, 0);
			this.remove(row, UNTOUCHED);
		}
	}

	#outcome(row: number): number {
		return this.#rows.get(row) >>> OUTCOME_SHIFT;
	}

	/** @param outcome 0 for none */
	#settle(row: number, outcome: number): void {
		const before = this.#outcome(row);
		this.#rowsWith[before] = (this.#rowsWith[before] ?? 0) - 1;
		this.#rowsWith[outcome] = (this.#rowsWith[outcome] ?? 0) + 1;
		this.#rows.set(row, (this.#rows.get(row) & FACTS) | (outcome << OUTCOME_SHIFT));
	}
}

/** The fewest rows by which the table grows, so that it grows seldom. */
const GROWTH = 65_536;

/** A table with one number of 32 bits for each row, 0 until it is set. A million rows take four megabytes. */
export class RowNumbers {
	#numbers = new Uint32Array(0);
	#length = 0;

	/** One more than the last row that was set. */
	get length(): number {
		return this.#length;
	}

	get(row: number): number {
		return this.#numbers[row] ?? 0;
	}

	set(row: number, number: number): void {
		if (row >= this.#numbers.length) {
			const larger = new Uint32Array(Math.max(row + GROWTH, this.#numbers.length * 2));
			larger.set(this.#numbers);
			this.#numbers = larger;
		}
		this.#numbers[row] = number;
		if (row >= this.#length) this.#length = row + 1;
	}
}
