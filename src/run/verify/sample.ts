/**
 * So many of a stream of unknown length, each with the same chance.
 *
 * @param random from 0 up to but not including 1
 */
export class Sample<Item> {
	readonly #size: number;
	readonly #random: () => number;
	readonly #items: Item[] = [];
	#seen = 0;

	constructor(size: number, random: () => number) {
		this.#size = size;
		this.#random = random;
	}

	get items(): readonly Item[] {
		return this.#items;
	}

	add(item: Item): void {
		this.#seen += 1;
		// The n-th stands in for one of those that are held, with a chance of size in n.
		const place = this.#seen <= this.#size ? this.#seen - 1 : Math.floor(this.#random() * this.#seen);
		if (place < this.#size) this.#items[place] = item;
	}
}
