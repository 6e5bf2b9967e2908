import { hash } from "node:crypto";
import { firstSlot, nextSlot, type Part, SlotTable } from "./slot-table.ts";

/** 96 bits, so that no two ids of a list share them: for ten million ids the odds are one in 10^15. */
const WORDS = 3;

/** Most services give ids of 128 bits in hexadecimal. Of another id, its hash is read as one of those. */
const ID_WORDS = 4;
const WORD_DIGITS = 8;
const DIGITS = ID_WORDS * WORD_DIGITS;

/**
 * The ids that a list has shown, in all its passes and in the present one, at about 17 bytes an id. Two `Set`s, which
 * hold the ids themselves, needed most of the memory of a long list.
 */
export class SeenIds {
	/** a slot is marked with the latest pass that showed its id */
	readonly #slots = new SlotTable(WORDS, hashOf);
	#count = 0;
	#pass = 1;
	/** the words of the id that was read last; the last one is folded into the others */
	readonly #added = new Uint32Array(ID_WORDS);

	/** ids of all passes */
	get size(): number {
		return this.#count;
	}

	/** Begins another pass. A list has a few of them. */
	beginPass(): void {
		this.#pass += 1;
	}

	/** Adds an id. `again` if an earlier pass has shown it, `repeated` if this one has. */
	add(id: string): "new" | "again" | "repeated" {
		const added = this.#read(id);
		const slotHash = hashOf(added, 0);
		const part = this.#slots.partWithRoom(slotHash);
		const { words, marks } = part;
		const slot = slotOf(part, slotHash, added);
		const before = marks[slot];
		marks[slot] = this.#pass;
		if (before === this.#pass) return "repeated";
		if (before !== 0) return "again";
		for (let word = 0; word < WORDS; word += 1) words[slot * WORDS + word] = added[word] ?? 0;
		part.used += 1;
		this.#count += 1;
		return "new";
	}

	has(id: string): boolean {
		const wanted = this.#read(id);
		const slotHash = hashOf(wanted, 0);
		const part = this.#slots.part(slotHash);
		return part.marks[slotOf(part, slotHash, wanted)] !== 0;
	}

	#read(id: string): Uint32Array {
		const words = this.#added;
		if (!readDigits(id, words)) readDigits(hash("sha256", id, "hex").slice(0, DIGITS), words);
		fold(words);
		return words;
	}
}

/** The slot of an id, or the free one that it would take. */
function slotOf(part: Part, slotHash: number, id: Uint32Array): number {
	const { words, marks } = part;
	let slot = firstSlot(part, slotHash);
	while (marks[slot] !== 0 && !isAt(words, slot * WORDS, id)) slot = nextSlot(part, slot);
	return slot;
}

/** Folds the last word into each of the others in another way: ids that differ in it alone stay different. */
function fold(id: Uint32Array): void {
	let last = id[WORDS] ?? 0;
	for (let word = 0; word < WORDS; word += 1) {
		last = Math.imul(last ^ (last >>> 16), 0x85ebca6b);
		last = Math.imul(last ^ (last >>> 13), 0xc2b2ae35);
		id[word] = (id[word] ?? 0) ^ last;
	}
}

function isAt(words: Uint32Array, at: number, wanted: Uint32Array): boolean {
	for (let word = 0; word < WORDS; word += 1) if (words[at + word] !== wanted[word]) return false;
	return true;
}

/** A number in which each bit of the words counts: numbered ids differ in one of the words alone. */
function hashOf(words: Uint32Array, at: number): number {
	let all = 0;
	for (let word = 0; word < WORDS; word += 1) {
		all = Math.imul(all ^ (words[at + word] ?? 0), 0x85ebca6b);
		all ^= all >>> 15;
	}
	all = Math.imul(all, 0xc2b2ae35);
	return all ^ (all >>> 16);
}

/** Reads an id of 32 hexadecimal digits in lower case into the words. False, and nothing is certain of them, for another id. */
function readDigits(id: string, words: Uint32Array): boolean {
	if (id.length !== DIGITS) return false;
	for (let word = 0; word < ID_WORDS; word += 1) {
		let value = 0;
		for (let at = word * WORD_DIGITS; at < (word + 1) * WORD_DIGITS; at += 1) {
			const unit = id.charCodeAt(at);
			const digit = unit >= 0x30 && unit <= 0x39 ? unit - 0x30 : unit >= 0x61 && unit <= 0x66 ? unit - 0x57 : -1;
			if (digit < 0) return false;
			value = (value << 4) | digit;
		}
		words[word] = value;
	}
	return true;
}
