import { type RowStatus, type Success, SUCCESSES } from "../../outcomes.ts";

/** The first byte of a failed row. Each byte from here on stands for a code. */
const FAILED = SUCCESSES.length + 1;

/** A failed row whose code has no byte of its own, as all were used. A map has the code. */
const OTHER_CODE = 255;

/** The outcome of each row in one byte: its status, or the code with which it failed. */
export class RowOutcomes {
	readonly #bytes = new RowBytes();
	readonly #codes: string[] = [];
	readonly #bytesOfCodes = new Map<string, number>();
	readonly #otherCodes = new Map<number, string>();

	/** undefined for a row that is not settled */
	statusOf(row: number): RowStatus | undefined {
		const byte = this.#bytes.get(row);
		return byte >= FAILED ? "failed" : SUCCESSES[byte - 1];
	}

	/** The code with which a row failed; undefined for any other row. */
	codeOf(row: number): string | undefined {
		const byte = this.#bytes.get(row);
		return byte === OTHER_CODE ? this.#otherCodes.get(row) : this.#codes[byte - FAILED];
	}

	setSucceeded(row: number, status: Success): void {
		this.#bytes.set(row, SUCCESSES.indexOf(status) + 1);
	}

	setFailed(row: number, code: string): void {
		const byte = this.#byteOf(code);
		this.#bytes.set(row, byte);
		if (byte === OTHER_CODE) this.#otherCodes.set(row, code);
	}

	/** The codes of all failed rows, each once. */
	failedCodes(): readonly string[] {
		const codes = new Set(this.#otherCodes.values());
		for (let row = 0; row < this.#bytes.length; row++) {
			const code = this.codeOf(row);
			if (code !== undefined) codes.add(code);
		}
		return [...codes];
	}

	/** The number of rows that failed with that code. */
	failedWith(code: string): number {
		return this.count((row) => this.codeOf(row) === code);
	}

	count(isCounted: (row: number) => boolean): number {
		return this.#bytes.count(isCounted);
	}

	/**
	 * Makes failed rows pending again: those with one of the codes, or all of them.
	 *
	 * @returns how many
	 */
	reopen(codes: ReadonlySet<string> | undefined, onReopened: (row: number) => void): number {
		let reopened = 0;
		for (let row = 0; row < this.#bytes.length; row++) {
			const code = this.codeOf(row);
			if (code === undefined || (codes !== undefined && !codes.has(code))) continue;
			this.#bytes.set(row, 0);
			this.#otherCodes.delete(row);
			onReopened(row);
			reopened += 1;
		}
		return reopened;
	}

	#byteOf(code: string): number {
		const known = this.#bytesOfCodes.get(code);
		if (known !== undefined) return known;
		const byte = FAILED + this.#codes.length;
		if (byte >= OTHER_CODE) return OTHER_CODE;
		this.#codes.push(code);
		this.#bytesOfCodes.set(code, byte);
		return byte;
	}
}

/** A row without it was never sent: its record is durable before the first byte of its write. */
export const SENT = 1;
/** the file of the row was stored */
export const STORED = 2;
/** the first write of the row was recorded without a before-image */
export const NO_BEFORE_IMAGE = 4;
/** the row failed, and certainly nothing of it was applied */
export const UNTOUCHED = 8;

/** What was sent of each row: a byte with the bits above. */
export class RowFacts {
	readonly #bits = new RowBytes();
	/** number of rows that may have been sent */
	sent = 0;

	has(row: number, bit: number): boolean {
		return (this.#bits.get(row) & bit) !== 0;
	}

	add(row: number, bits: number): void {
		if ((bits & SENT) !== 0 && !this.has(row, SENT)) this.sent += 1;
		this.#bits.set(row, this.#bits.get(row) | bits);
	}

	remove(row: number, bit: number): void {
		if (this.has(row, bit)) this.#bits.set(row, this.#bits.get(row) & ~bit);
	}

	count(isCounted: (row: number) => boolean): number {
		return this.#bits.count(isCounted);
	}
}

/** The fewest rows by which the table grows: 64 KiB, so that it grows seldom. */
const GROWTH = 65_536;

/** A table with one byte for each row, 0 until it is set. A million rows take a megabyte. */
export class RowBytes {
	#bytes = new Uint8Array(0);
	#length = 0;

	/** One more than the last row that was set. */
	get length(): number {
		return this.#length;
	}

	get(row: number): number {
		return this.#bytes[row] ?? 0;
	}

	set(row: number, byte: number): void {
		if (row >= this.#bytes.length) {
			const larger = new Uint8Array(Math.max(row + GROWTH, this.#bytes.length * 2));
			larger.set(this.#bytes);
			this.#bytes = larger;
		}
		this.#bytes[row] = byte;
		if (row >= this.#length) this.#length = row + 1;
	}

	/** The number of rows that are counted, of those up to the last that was set. */
	count(isCounted: (row: number) => boolean): number {
		let count = 0;
		for (let row = 0; row < this.#length; row++) if (isCounted(row)) count += 1;
		return count;
	}
}
