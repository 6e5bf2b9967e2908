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

/**
 * A positive number for each id, in some twenty bytes an id outside the heap of V8, whatever the length of the ids. With a
 * `Map` the process took 50 MB more for each million.
 *
 * It keeps 64 bits of hashes in place of the id: the odds that two of a million ids share them are one in thirty million.
 */
export class IdTable {
	readonly #parts = Array.from({ length: PARTS }, () => new Uint32Array(SMALLEST * WIDTH));
	readonly #counts = new Uint32Array(PARTS);
	/** of the id that was asked for last: its hashes, the number of its part and the slots of that */
	#hash = 0;
	#check = 0;
	#part = 0;
	#slots = new Uint32Array();

	get size(): number {
		return this.#counts.reduce((sum, count) => sum + count, 0);
	}

	/** The number of an id; 0 where it has none. */
	get(id: string): number {
		this.#read(id);
		return this.#slots[this.#find() + 2] ?? 0;
	}

	/**
	 * @param number from 1 to 2 ** 32 - 1
	 * @returns the number that it had before; 0 where it had none
	 */
	set(id: string, number: number): number {
		this.#read(id);
		let at = this.#find();
		const before = this.#slots[at + 2] ?? 0;
		if (before === 0) {
			const count = (this.#counts[this.#part] ?? 0) + 1;
			this.#counts[this.#part] = count;
			if (count > (this.#slots.length / WIDTH) * FULLEST) {
				this.#grow();
				this.#read(id);
				at = this.#find();
			}
		}
		this.#write(at, number);
		return before;
	}

	#write(at: number, number: number): void {
		this.#slots[at] = this.#hash;
		this.#slots[at + 1] = this.#check;
		this.#slots[at + 2] = number;
	}

	#grow(): void {
		const old = this.#slots;
		this.#slots = new Uint32Array(Math.ceil((old.length / WIDTH) * GROWTH) * WIDTH);
		this.#parts[this.#part] = this.#slots;
		for (let at = 0; at < old.length; at += WIDTH) {
			const number = old[at + 2] ?? 0;
			if (number === 0) continue;
			this.#hash = old[at] ?? 0;
			this.#check = old[at + 1] ?? 0;
			this.#write(this.#find(), number);
		}
	}

	/** Where the slot of that hash begins, or the free one that it would take. There always is one. */
	#find(): number {
		const slots = this.#slots;
		const [hash, check] = [this.#hash, this.#check];
		let at = (hash % (slots.length / WIDTH)) * WIDTH;
		while (slots[at + 2] !== 0 && (slots[at] !== hash || slots[at + 1] !== check)) {
			at += WIDTH;
			if (at === slots.length) at = 0;
		}
		return at;
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
		this.#part = this.#check % PARTS;
		this.#slots = this.#parts[this.#part] ?? this.#slots;
	}
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
