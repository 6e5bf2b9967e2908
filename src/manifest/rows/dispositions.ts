/** What becomes of a row: sent, not sent because it is wrong, or left out because another row says the same. */
export const Disposition = { valid: 0, invalid: 1, duplicate: 2 } as const;
export type Disposition = (typeof Disposition)[keyof typeof Disposition];

/** Two bits a row: all that is remembered of each row of a manifest, 250 kB for a million. */
export class Dispositions {
	#bits = new Uint8Array(4096);

	set(row: number, disposition: Disposition): void {
		const byte = Math.floor(row / 4);
		if (byte >= this.#bits.length) {
			const larger = new Uint8Array(Math.max(this.#bits.length * 2, byte + 1));
			larger.set(this.#bits);
			this.#bits = larger;
		}
		const shift = (row % 4) * 2;
		this.#bits[byte] = ((this.#bits[byte] ?? 0) & ~(3 << shift)) | (disposition << shift);
	}

	isValid(row: number): boolean {
		const byte = this.#bits[Math.floor(row / 4)] ?? 0;
		return ((byte >> ((row % 4) * 2)) & 3) === Disposition.valid;
	}
}
