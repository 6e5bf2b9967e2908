/** Rows by which the table grows at least. */
const GROWTH = 65_536;

/** One byte for each row, zero until it is set: a million rows are a megabyte. */
export class RowBytes {
	#bytes = new Uint8Array(0);
	#length = 0;

	/** Rows from here on were never set. */
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
}
