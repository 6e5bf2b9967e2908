import { firstSlot, nextSlot, SlotTable } from "./slot-table.ts";

/** Words of a slot: a hash of the id, and the lowest 32 bits of the place. */
const WIDTH = 2;

/** Bytes of a file for each of the 255 marks that a slot may have: the files of a table may have a terabyte. */
const MARKED = 2 ** 32;

/**
 * The possible places of each id's record, in about twelve bytes an id, whatever its length.
 *
 * It stores only a hash of each id. So a caller checks the id of the record that it reads, and tries the next candidate if
 * the id differs.
 */
export class IdTable {
	/** a slot is marked with the highest bits of the place, counted from one */
	readonly #slots = new SlotTable(WIDTH, (words, at) => words[at] ?? 0);
	#count = 0;

	get size(): number {
		return this.#count;
	}

	/** @param place of the record in its file, in bytes */
	add(id: string, place: number): void {
		const tag = tagOf(id);
		const part = this.#slots.partWithRoom(tag);
		const { words, marks } = part;
		let slot = firstSlot(part, tag);
		while (marks[slot] !== 0) slot = nextSlot(part, slot);
		marks[slot] = Math.floor(place / MARKED) + 1;
		words[slot * WIDTH] = tag;
		words[slot * WIDTH + 1] = place % MARKED;
		part.used += 1;
		this.#count += 1;
	}

	/** The possible places of the id's record: nearly always one, or none. */
	candidates(id: string): readonly number[] {
		const tag = tagOf(id);
		const part = this.#slots.part(tag);
		const { words, marks } = part;
		const found: number[] = [];
		for (let slot = firstSlot(part, tag); ; slot = nextSlot(part, slot)) {
			const mark = marks[slot] ?? 0;
			if (mark === 0) return found;
			if (words[slot * WIDTH] === tag) found.push((mark - 1) * MARKED + (words[slot * WIDTH + 1] ?? 0));
		}
	}
}

/**
 * A hash of the id: FNV-1a, and the last step of MurmurHash3, so that each bit depends on every character. A cryptographic
 * hash takes ten times as long, and the id of a record is compared anyway.
 */
function tagOf(id: string): number {
	let tag = 0x811c9dc5;
	for (let at = 0; at < id.length; at += 1) tag = Math.imul(tag ^ id.charCodeAt(at), 0x01000193);
	tag = Math.imul(tag ^ (tag >>> 16), 0x85ebca6b);
	tag = Math.imul(tag ^ (tag >>> 13), 0xc2b2ae35);
	return (tag ^ (tag >>> 16)) >>> 0;
}
