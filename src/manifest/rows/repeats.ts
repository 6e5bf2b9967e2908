/** Rows of a piece of memory: half a megabyte. One piece for all rows would be copied as it grows. */
const PIECE_ROWS = 65_536;

/** Odd multipliers, by which the two halves of a fingerprint differ. They are those of the hash cyrb53. */
const ONE = 0x9e3779b1;
const TWO = 0x5f356495;

/** Set in each unit, it makes ASCII capitals equal to small letters: some ids are compared without letter case. */
const SMALL = 0x20;

/**
 * Finds rows that may be about the same document, in eight bytes a row and sixteen at the end.
 *
 * A row leaves 53 bits of its key, which cost a tenth of a hash that no two keys share. So what is found here is only
 * suspected, and is compared afterwards. Rows whose keys are equal, or differ in letter case alone, are always found.
 */
export class Repeats {
	/** the fingerprint of each row, by its position; 0 for a row that was not added */
	readonly #pieces: Float64Array[] = [];
	#rows = 0;

	/** @param document equal for rows of one dataset that are about the same document */
	add(dataset: string, document: string, index: number): void {
		let one = 0;
		let two = 0;
		for (const text of [dataset, document]) {
			for (let at = 0; at < text.length; at++) {
				const unit = text.charCodeAt(at) | SMALL;
				one = Math.imul(one ^ unit, ONE);
				two = Math.imul(two ^ unit, TWO);
			}
		}
		while (index >= this.#pieces.length * PIECE_ROWS) this.#pieces.push(new Float64Array(PIECE_ROWS));
		// Multiplication carries to higher bits alone, so the low ones are the poorest.
		const high = (two ^ (one >>> 8)) & 0x1f_ffff;
		const print = high * 2 ** 32 + ((one ^ (one >>> 16) ^ (two >>> 8)) >>> 0) || 1;
		const piece = this.#pieces[Math.floor(index / PIECE_ROWS)];
		if (piece !== undefined) piece[index % PIECE_ROWS] = print;
		this.#rows = index + 1;
	}

	/** The positions of the rows that share a fingerprint. */
	suspects(): ReadonlySet<number> {
		const sorted = new Float64Array(this.#rows);
		for (const [at, piece] of this.#pieces.entries()) {
			sorted.set(piece.subarray(0, this.#rows - at * PIECE_ROWS), at * PIECE_ROWS);
		}
		sorted.sort();
		const shared = new Set(sorted.filter((print, at) => print !== 0 && print === sorted[at - 1]));
		const rows = new Set<number>();
		if (shared.size === 0) return rows;
		for (const [place, piece] of this.#pieces.entries()) {
			for (const [at, print] of piece.entries()) if (shared.has(print)) rows.add(place * PIECE_ROWS + at);
		}
		return rows;
	}
}

/** A number from 0 to 3 for each row, by its position: 250 kB for a million rows. */
export class RowMarks {
	#bits = new Uint8Array(4096);

	set(row: number, mark: 0 | 1 | 2 | 3): void {
		const byte = Math.floor(row / 4);
		if (byte >= this.#bits.length) {
			const larger = new Uint8Array(Math.max(this.#bits.length * 2, byte + 1));
			larger.set(this.#bits);
			this.#bits = larger;
		}
		const shift = (row % 4) * 2;
		this.#bits[byte] = ((this.#bits[byte] ?? 0) & ~(3 << shift)) | (mark << shift);
	}

	of(row: number): number {
		return ((this.#bits[Math.floor(row / 4)] ?? 0) >> ((row % 4) * 2)) & 3;
	}
}
