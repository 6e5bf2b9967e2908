/** Parts of a table, by the lowest bits of the hashes. One grows at a time, so hardly anything is held twice meanwhile. */
const PARTS = 16;
const PART_BITS = 4;
const PART_MASK = PARTS - 1;

/** Bits of a hash that choose the slot in its part, and the values that they have. */
const SLOT_VALUES = 2 ** (32 - PART_BITS);

/** Slots of the smallest part. */
const SMALLEST = 16;

/** Share of used slots above which a part grows: a fuller one needs longer searches. */
const FULLEST = 0.85;

/** How much larger a part becomes. A table that doubles is half empty for half of the time. */
const GROWTH = 1.25;

/** The slots of a part. Numbers of a slot are `words[slot * width]` and the next ones. */
export type Part = {
	readonly words: Uint32Array;
	/** one number more for each slot: zero for a free slot, never zero for a used one */
	readonly marks: Uint8Array;
	/** slots that are used */
	used: number;
};

/**
 * A hash table of numbers, outside the heap of V8: for each slot some words of 32 bits and a byte, at three quarters full on
 * average. Searches are left to its owner, as a call for each slot would cost more than the search.
 */
export class SlotTable {
	readonly #width: number;
	readonly #hashOf: (words: Uint32Array, at: number) => number;
	readonly #parts: Part[];

	/**
	 * @param width words of a slot
	 * @param hashOf the hash of the slot whose words begin at an index: 32 bits, with or without a sign
	 */
	constructor(width: number, hashOf: (words: Uint32Array, at: number) => number) {
		this.#width = width;
		this.#hashOf = hashOf;
		// Parts of different sizes don't grow at the same time.
		this.#parts = Array.from({ length: PARTS }, (_, part) => newPart(SMALLEST * GROWTH ** (part / PARTS), width));
	}

	/** The part of a hash. */
	part(hash: number): Part {
		const part = this.#parts[hash & PART_MASK];
		if (part === undefined) throw new Error("a table has a part for every hash");
		return part;
	}

	/** The part of a hash, with room for one more slot to be used. */
	partWithRoom(hash: number): Part {
		const part = this.part(hash);
		return part.used < part.marks.length * FULLEST ? part : this.#grow(hash & PART_MASK, part);
	}

	#grow(index: number, { words, marks, used }: Part): Part {
		const width = this.#width;
		const part = newPart(marks.length * GROWTH, width);
		part.used = used;
		for (let old = 0; old < marks.length; old += 1) {
			const mark = marks[old] ?? 0;
			if (mark === 0) continue;
			let slot = firstSlot(part, this.#hashOf(words, old * width));
			while (part.marks[slot] !== 0) slot = nextSlot(part, slot);
			part.marks[slot] = mark;
			for (let word = 0; word < width; word += 1) part.words[slot * width + word] = words[old * width + word] ?? 0;
		}
		this.#parts[index] = part;
		return part;
	}
}

/** Where the search for a hash begins. */
export function firstSlot({ marks }: Part, hash: number): number {
	return Math.floor(((hash >>> PART_BITS) * marks.length) / SLOT_VALUES);
}

/** Where the search goes on. It ends at a free slot, and there always is one. */
export function nextSlot({ marks }: Part, slot: number): number {
	return slot + 1 === marks.length ? 0 : slot + 1;
}

function newPart(size: number, width: number): Part {
	const slots = Math.ceil(size);
	const wordBytes = slots * width * Uint32Array.BYTES_PER_ELEMENT;
	const bytes = wordBytes + slots;
	const buffer = new OwnPages(bytes, { maxByteLength: bytes });
	return { words: new Uint32Array(buffer, 0, slots * width), marks: new Uint8Array(buffer, wordBytes, slots), used: 0 };
}

/**
 * Memory that could be resized is mapped for itself, and goes back to the system when it is let go. Other memory comes from
 * the allocator of the C library, which kept the 22 MB that the ids of a list of a million had needed.
 */
const OwnPages: new (bytes: number, options: { readonly maxByteLength: number }) => ArrayBuffer = ArrayBuffer;
