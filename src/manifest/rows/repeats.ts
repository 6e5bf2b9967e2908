/** Rows that have room at first. It doubles, so that it grows seldom. */
const FIRST_ROWS = 4096;

/** Odd multipliers, by which the two halves of a fingerprint differ. They are those of the hash cyrb53. */
const ONE = 0x9e3779b1;
const TWO = 0x5f356495;

/** Set in each unit, it makes ASCII capitals equal to small letters: some ids are compared without letter case. */
const SMALL = 0x20;

/**
 * Finds rows that may be about the same document, in eight to sixteen bytes a row, and twice as many at the end.
 *
 * A row leaves 53 bits of its key, which cost a tenth of a hash that no two keys share. So what is found here is only
 * suspected, and is compared afterwards. Rows whose keys are equal, or differ in letter case alone, are always found.
 */
export class Repeats {
	/** the fingerprint of each row, by its position; 0 for a row that was not added */
	#prints = new Float64Array(FIRST_ROWS);

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
		if (index >= this.#prints.length) {
			const larger = new Float64Array(Math.max(this.#prints.length * 2, index + 1));
			larger.set(this.#prints);
			this.#prints = larger;
		}
		// Multiplication carries to higher bits alone, so the low ones are the poorest.
		const high = (two ^ (one >>> 8)) & 0x1f_ffff;
		this.#prints[index] = high * 2 ** 32 + ((one ^ (one >>> 16) ^ (two >>> 8)) >>> 0) || 1;
	}

	/** The positions of the rows that share a fingerprint. */
	suspects(): ReadonlySet<number> {
		const sorted = this.#prints.toSorted();
		const shared = new Set(sorted.filter((print, at) => print !== 0 && print === sorted[at - 1]));
		const rows = new Set<number>();
		if (shared.size === 0) return rows;
		for (const [row, print] of this.#prints.entries()) if (shared.has(print)) rows.add(row);
		return rows;
	}
}

/** A number from 0 to 255 for each row, by its position: a megabyte for a million rows. */
export class RowMarks {
	#marks = new Uint8Array(FIRST_ROWS);

	set(row: number, mark: number): void {
		if (row >= this.#marks.length) {
			const larger = new Uint8Array(Math.max(this.#marks.length * 2, row + 1));
			larger.set(this.#marks);
			this.#marks = larger;
		}
		this.#marks[row] = mark;
	}

	of(row: number): number {
		return this.#marks[row] ?? 0;
	}
}
