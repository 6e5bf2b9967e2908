import { hash } from "node:crypto";

/** 128 bits: of a hash, so that no two ids of a list share them, or the id itself, as most services give such ids. */
const WORDS = 4;
const WORD_DIGITS = 8;
const DIGITS = WORDS * WORD_DIGITS;

/** Share of used slots above which the table doubles: a fuller table needs longer searches. */
const FULLEST = 0.7;
const SMALLEST = 256;

/**
 * The ids that a list has shown, in all its passes and in the present one, at about 40 bytes an id. Two `Set`s, which
 * hold the ids themselves, needed most of the memory of a long list.
 */
export class SeenIds {
	#words = new Uint32Array(SMALLEST * WORDS);
	/** the latest pass that showed the id; zero for a free slot */
	#passes = new Uint8Array(SMALLEST);
	#count = 0;
	#pass = 1;
	/** the words of the id that is being added */
	readonly #added = new Uint32Array(WORDS);

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
		if (this.#count >= this.#passes.length * FULLEST) this.#grow();
		const words = this.#added;
		if (!readDigits(id, words)) hashInto(id, words);
		const slot = this.#slotOf(words, 0);
		const before = this.#passes[slot];
		this.#passes[slot] = this.#pass;
		if (before === this.#pass) return "repeated";
		if (before !== 0) return "again";
		this.#words.set(words, slot * WORDS);
		this.#count += 1;
		return "new";
	}

	/** The slot with these words, or the free slot for them. */
	#slotOf(words: Uint32Array, at: number): number {
		const last = this.#passes.length - 1;
		let slot = mixed(words, at) & last;
		while (this.#passes[slot] !== 0 && !this.#has(slot, words, at)) slot = (slot + 1) & last;
		return slot;
	}

	#has(slot: number, words: Uint32Array, at: number): boolean {
		for (let word = 0; word < WORDS; word += 1) {
			if (this.#words[slot * WORDS + word] !== words[at + word]) return false;
		}
		return true;
	}

	#grow(): void {
		const [words, passes] = [this.#words, this.#passes];
		this.#words = new Uint32Array(words.length * 2);
		this.#passes = new Uint8Array(passes.length * 2);
		for (const [old, pass] of passes.entries()) {
			if (pass === 0) continue;
			const slot = this.#slotOf(words, old * WORDS);
			this.#passes[slot] = pass;
			this.#words.set(words.subarray(old * WORDS, (old + 1) * WORDS), slot * WORDS);
		}
	}
}

/** A number in which each of the words counts: numbered ids differ in one of them alone. */
function mixed(words: Uint32Array, at: number): number {
	let all = 0;
	for (let word = 0; word < WORDS; word += 1) {
		all = Math.imul(all ^ (words[at + word] ?? 0), 0x85ebca6b);
		all ^= all >>> 15;
	}
	return all;
}

/** Reads an id of 32 hexadecimal digits in lower case into the words. False, and nothing is certain of them, for another id. */
function readDigits(id: string, words: Uint32Array): boolean {
	if (id.length !== DIGITS) return false;
	for (let word = 0; word < WORDS; word += 1) {
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

function hashInto(id: string, words: Uint32Array): void {
	const digits = hash("sha256", id, "hex");
	readDigits(digits.slice(0, DIGITS), words);
}
