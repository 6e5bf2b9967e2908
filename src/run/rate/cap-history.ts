/** The caps of a session, over time. */
export class CapHistory {
	readonly #changes: { readonly at: number; readonly rate: number | undefined }[] = [];

	/** From that time on (milliseconds) so many requests a second are allowed; undefined for no cap. */
	add(at: number, rate: number | undefined): void {
		this.#changes.push({ at, rate });
	}

	/** The mean of the cap since a time, until `now`; undefined where there was no cap for a part of it. */
	meanSince(start: number, now: number): number | undefined {
		let sum = 0;
		for (const [index, { at, rate }] of this.#changes.entries()) {
			const until = this.#changes[index + 1]?.at ?? now;
			const lasted = until - Math.max(at, start);
			if (lasted <= 0) continue;
			if (rate === undefined) return undefined;
			sum += rate * lasted;
		}
		return now > start ? sum / (now - start) : this.#changes.at(-1)?.rate;
	}
}
