import { hash } from "node:crypto";

/** 128 bits of a hash, so that no two ids of a list share them. */
const WORDS = 4;
const WORD_DIGITS = 8;

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
		const words = wordsOf(id);
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
		let slot = (words[at] ?? 0) & last;
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

function wordsOf(id: string): Uint32Array {
	const digits = hash("sha256", id, "hex");
	return Uint32Array.from({ length: WORDS }, (_, word) =>
		Number.parseInt(digits.slice(word * WORD_DIGITS, (word + 1) * WORD_DIGITS), 16),
	);
}
