type Taker = { readonly grant: () => void; readonly refuse: (error: Error) => void };

/** The requests that wait for a permit, first come first served. */
export class Takers {
	readonly #waiting: Taker[] = [];

	get length(): number {
		return this.#waiting.length;
	}

	/** Resolves with a permit. Rejects with the signal's reason when it aborts. */
	wait(signal: AbortSignal | undefined): Promise<void> {
		return new Promise((resolve, reject) => {
			const aborted = (): void => {
				const place = this.#waiting.indexOf(taker);
				if (place >= 0) this.#waiting.splice(place, 1);
				reject(signal?.reason);
			};
			const taker: Taker = {
				grant: () => {
					signal?.removeEventListener("abort", aborted);
					resolve();
				},
				refuse: (error) => {
					signal?.removeEventListener("abort", aborted);
					reject(error);
				},
			};
			signal?.addEventListener("abort", aborted, { once: true });
			this.#waiting.push(taker);
		});
	}

	/** Gives so many permits at most. @returns those that were taken */
	grant(most: number): number {
		const granted = this.#waiting.splice(0, most);
		for (const { grant } of granted) grant();
		return granted.length;
	}

	/** No permit follows. */
	refuse(error: Error): void {
		for (const { refuse } of this.#waiting.splice(0)) refuse(error);
	}
}
