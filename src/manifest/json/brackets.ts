/** The brackets that are open in a text, by which a stray one is noticed where it stands. */
export class Brackets {
	/** those that opened, by their character codes */
	readonly #open: number[] = [];
	/** how many of them are braces */
	#braces = 0;
	/** whether any did not meet its own kind */
	isOdd = false;

	get depth(): number {
		return this.#open.length;
	}

	open(unit: number): void {
		this.#open.push(unit);
		if (unit === 0x7b) this.#braces++;
	}

	/** Closes the last bracket of that kind with those inside it, or the last of all where none of its kind is open. */
	close(unit: number): void {
		const opening = unit === 0x7d ? 0x7b : 0x5b;
		const count = opening === 0x7b ? this.#braces : this.#open.length - this.#braces;
		let kind = this.#pop();
		if (kind !== opening) this.isOdd = true;
		while (count > 0 && kind !== opening) kind = this.#pop();
	}

	#pop(): number | undefined {
		const kind = this.#open.pop();
		if (kind === 0x7b) this.#braces--;
		return kind;
	}
}
