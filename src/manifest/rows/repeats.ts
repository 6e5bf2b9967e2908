/** Words of a record: the two of the fingerprint, then the row's position. */
const RECORD_WORDS = 3;

/** Records for which there is room at first. */
const FIRST_ROOM = 10_000;

/** Odd multipliers, by which the two words of a fingerprint differ. They are those of the hash cyrb53. */
const ONE = 0x9e3779b1;
const TWO = 0x5f356495;

/** Set in each unit, it makes ASCII capitals equal to small letters: some ids are compared without letter case. */
const SMALL = 0x20;

/**
 * Finds rows that may be about the same document, in twelve bytes a row and twenty at the end.
 *
 * A row leaves 64 bits of its key, which cost a tenth of a hash that no two keys share. So what is found here is only
 * suspected, and is compared afterwards. Rows whose keys are equal, or differ in letter case alone, are always found.
 */
export class Repeats {
	#words = new Uint32Array(FIRST_ROOM * RECORD_WORDS);
	#length = 0;

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
		if (this.#length === this.#words.length) {
			const words = new Uint32Array(this.#length * 2);
			words.set(this.#words);
			this.#words = words;
		}
		// Multiplication carries to higher bits alone, so the low ones, which choose the place in a table, are the poorest.
		this.#words[this.#length++] = one ^ (one >>> 16) ^ (two >>> 8);
		this.#words[this.#length++] = two ^ (one >>> 8);
		this.#words[this.#length++] = index;
	}

	/** The positions of the rows that share a fingerprint. */
	suspects(): ReadonlySet<number> {
		return repeated(this.#words.subarray(0, this.#length));
	}
}

/** A table of the records by their fingerprints, at least half of it empty. A place holds the number of a record, from 1. */
function repeated(records: Uint32Array): ReadonlySet<number> {
	const found = new Set<number>();
	const count = records.length / RECORD_WORDS;
	const table = new Uint32Array(2 ** Math.ceil(Math.log2(2 * count + 1)));
	const mask = table.length - 1;
	for (let record = 0; record < count; record++) {
		const at = record * RECORD_WORDS;
		const [one, two] = [records[at], records[at + 1] ?? 0];
		let place = two & mask;
		for (let other = table[place] ?? 0; ; other = table[place] ?? 0) {
			if (other === 0) {
				table[place] = record + 1;
				break;
			}
			const earlier = (other - 1) * RECORD_WORDS;
			if (records[earlier] === one && records[earlier + 1] === two) {
				found.add(records[earlier + 2] ?? 0);
				found.add(records[at + 2] ?? 0);
				break;
			}
			place = (place + 1) & mask;
		}
	}
	return found;
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
