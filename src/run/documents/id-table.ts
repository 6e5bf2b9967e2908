import type { Place } from "./block-file.ts";

/** Slots of the smallest table. All sizes are powers of two, as the lowest bits of a hash are its slot. */
const SMALLEST = 1024;

/** Share of used slots above which the table doubles: a fuller table needs longer searches. */
const FULLEST = 0.5;

/**
 * The possible places of each id's record, in about forty bytes an id, whatever its length.
 *
 * It stores only a part of each id's hash. So a caller checks the id of the record that it reads, and tries the next
 * candidate if the id differs.
 */
export class IdTable {
	#tags = new Uint32Array(SMALLEST);
	#offsets = new Float64Array(SMALLEST);
	/** zero for a free slot, as no record is empty */
	#lengths = new Uint32Array(SMALLEST);
	#count = 0;

	get size(): number {
		return this.#count;
	}

	add(id: string, place: Place): void {
		if (this.#count >= this.#lengths.length * FULLEST) this.#grow();
		this.#put(tagOf(id), place.offset, place.length);
		this.#count += 1;
	}

	/** The possible places of the id's record: nearly always one, or none. */
	candidates(id: string): readonly Place[] {
		const tag = tagOf(id);
		const last = this.#lengths.length - 1;
		const found: Place[] = [];
		for (let slot = tag & last; ; slot = (slot + 1) & last) {
			const length = this.#lengths[slot] ?? 0;
			if (length === 0) return found;
			if (this.#tags[slot] === tag) found.push({ offset: this.#offsets[slot] ?? 0, length });
		}
	}

	#put(tag: number, offset: number, length: number): void {
		const last = this.#lengths.length - 1;
		let slot = tag & last;
		while (this.#lengths[slot] !== 0) slot = (slot + 1) & last;
		this.#tags[slot] = tag;
		this.#offsets[slot] = offset;
		this.#lengths[slot] = length;
	}

	#grow(): void {
		const [tags, offsets, lengths] = [this.#tags, this.#offsets, this.#lengths];
		this.#tags = new Uint32Array(tags.length * 2);
		this.#offsets = new Float64Array(tags.length * 2);
		this.#lengths = new Uint32Array(tags.length * 2);
		for (const [slot, length] of lengths.entries()) {
			if (length > 0) this.#put(tags[slot] ?? 0, offsets[slot] ?? 0, length);
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
