/** The least rate that is assumed, in requests a second: few requests may have been answered yet. */
const LEAST = 10;

/** The rate at which a service answers, over the last two seconds with answers. A run without a cap is lowered from it. */
export class Meter {
	#second = Number.NaN;
	#count = 0;
	#before = 0;

	answered(now: number): void {
		const second = Math.floor(now / 1000);
		if (second !== this.#second) {
			this.#before = this.#count;
			this.#count = 0;
			this.#second = second;
		}
		this.#count += 1;
	}

	get rate(): number {
		return Math.max(LEAST, this.#before, this.#count);
	}
}
