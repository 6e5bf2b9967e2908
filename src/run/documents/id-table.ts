/** Words of a slot: two hashes of the id, and its number. */
const WIDTH = 3;

/** Share of used slots above which the table grows: a fuller one needs longer searches. */
const FULLEST = 0.75;

/** The factor by which a part of it grows. */
const GROWTH = 1.5;

/** Parts, which grow one after another: a table that grew as a whole took twice its memory meanwhile. A power of 2. */
const PARTS = 64;

/** Slots of the smallest part. */
const SMALLEST = 8;

type Part = { slots: Uint32Array; count: number };

/**
 * A positive number for each id, in some twenty bytes an id outside the heap of V8, whatever the length of the ids. With a
 * `Map` the process took 50 MB more for each million.
 *
 * It keeps 64 bits of hashes in place of the id: the odds that two of a million ids share them are one in thirty million.
 */
export class IdTable {
	readonly #parts = Array.from({ length: PARTS }, newPart);
	/** of the id that was asked for last: its hashes, and its part */
	#hash = 0;
	#check = 0;
	#part = newPart();

	get size(): number {
		return this.#parts.reduce((sum, { count }) => sum + count, 0);
	}

	/** The number of an id; 0 where it has none. */
	get(id: string): number {
		this.#read(id);
		const { slots } = this.#part;
		return slots[placeIn(slots, this.#hash, this.#check) + 2] ?? 0;
	}

	/**
	 * @param number from 1 to 2 ** 32 - 1
	 * @returns the number that it had before; 0 where it had none
	 */
	set(id: string, number: number): number {
		this.#read(id);
		const part = this.#part;
		let at = placeIn(part.slots, this.#hash, this.#check);
		const before = part.slots[at + 2] ?? 0;
		if (before === 0 && ++part.count > (part.slots.length / WIDTH) * FULLEST) {
			part.slots = grown(part.slots);
			at = placeIn(part.slots, this.#hash, this.#check);
		}
		part.slots[at] = this.#hash;
		part.slots[at + 1] = this.#check;
		part.slots[at + 2] = number;
		return before;
	}

	/** Two FNV hashes with different steps. A cryptographic hash takes ten times as long. */
	#read(id: string): void {
		let hash = 0x811c9dc5;
		let check = 0x01000193;
		for (let at = 0; at < id.length; at += 1) {
			const unit = id.charCodeAt(at);
			hash = Math.imul(hash ^ unit, 0x01000193);
			check = Math.imul(check ^ unit, 0x5bd1e995);
			check ^= check >>> 15;
		}
		hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
		this.#hash = (hash ^ (hash >>> 13)) >>> 0;
		this.#check = check >>> 0;
		this.#part = this.#parts[this.#check % PARTS] ?? this.#part;
	}
}

function newPart(): Part {
	return { slots: new Uint32Array(SMALLEST * WIDTH), count: 0 };
}

function grown(old: Uint32Array): Uint32Array {
	const slots = new Uint32Array(Math.ceil((old.length / WIDTH) * GROWTH) * WIDTH);
	for (let at = 0; at < old.length; at += WIDTH) {
		if (old[at + 2] === 0) continue;
		const to = placeIn(slots, old[at] ?? 0, old[at + 1] ?? 0);
		for (let word = 0; word < WIDTH; word += 1) slots[to + word] = old[at + word] ?? 0;
	}
	return slots;
}

/** Where the slot of that hash begins, or the free one that it would take. There always is one. */
function placeIn(slots: Uint32Array, hash: number, check: number): number {
	let at = (hash % (slots.length / WIDTH)) * WIDTH;
	while (slots[at + 2] !== 0 && (slots[at] !== hash || slots[at + 1] !== check)) {
		at += WIDTH;
		if (at === slots.length) at = 0;
	}
	return at;
}

/** The number of an id that was shown, and has none of its own. */
export const SHOWN = 2 ** 32 - 1;

/** The ids that a list has shown, in all its passes and in the present one. */
export class SeenIds {
	readonly #all: IdTable;
	/** the ids of the present pass, where it is not the first */
	#pass: IdTable | undefined;

	/** @param all a table that gives shown ids their numbers: one is enough for both */
	constructor(all = new IdTable()) {
		this.#all = all;
	}

	/** ids of all passes */
	get size(): number {
		return this.#all.size;
	}

	/** Begins another pass. */
	beginPass(): void {
		this.#pass = this.size > 0 ? new IdTable() : undefined;
	}

	/** Adds an id. `again` if an earlier pass has shown it, `repeated` if this one has. */
	add(id: string): "new" | "again" | "repeated" {
		const before = this.#all.set(id, SHOWN);
		if (before !== 0) this.#all.set(id, before);
		if (this.#pass === undefined) return before === 0 ? "new" : "repeated";
		if (this.#pass.set(id, SHOWN) !== 0) return "repeated";
		return before === 0 ? "new" : "again";
	}

	has(id: string): boolean {
		return this.#all.get(id) !== 0;
	}
}
