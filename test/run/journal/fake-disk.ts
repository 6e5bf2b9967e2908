import type { JournalFile } from "../../../src/run/journal/writer.ts";

/** An error as the system gives it. */
export function systemError(code: string): Error {
	return Object.assign(new Error(`${code}: it went wrong, write`), { code });
}

/**
 * A file on a disk that can lose its power: what was written counts as stored only once it was synced.
 *
 * Each operation first waits for `gate`, and fails with what `fault` gives.
 */
export class FakeDisk {
	/** what a reader sees while the power is on */
	bytes: Buffer;
	/** bytes from the beginning that survive whatever happens */
	durable: number;
	nlink = 1;
	writes = 0;
	syncs = 0;
	/** bytes that one write takes at most */
	mostTaken = Number.POSITIVE_INFINITY;
	gate: (operation: Operation) => Promise<void> | void = () => undefined;
	fault: (operation: Operation) => Error | undefined = () => undefined;

	constructor(bytes: Uint8Array = Buffer.alloc(0)) {
		this.bytes = Buffer.from(bytes);
		this.durable = this.bytes.length;
	}

	open(): JournalFile {
		return {
			write: async (bytes) => {
				await this.#operation("write");
				const taken = Buffer.from(bytes.subarray(0, this.mostTaken));
				this.bytes = Buffer.concat([this.bytes, taken]);
				this.writes += 1;
				return taken.length;
			},
			sync: async () => {
				// Only what was there when it began is promised.
				const length = this.bytes.length;
				await this.#operation("sync");
				this.durable = Math.max(this.durable, length);
				this.syncs += 1;
			},
			size: async () => {
				await this.#operation("size");
				return { size: this.bytes.length, nlink: this.nlink };
			},
			close: async () => {
				await this.#operation("close");
			},
		};
	}

	async #operation(operation: Operation): Promise<void> {
		await this.gate(operation);
		const fault = this.fault(operation);
		if (fault !== undefined) throw fault;
	}
}

export type Operation = "write" | "sync" | "size" | "close";

/** Bytes that a disk writes as one. */
export const SECTOR = 64;

/**
 * What a disk may have after it lost its power: all that was synced, and of the rest any length, in which each sector was
 * written, or is zeros because only the file's length was.
 *
 * @param random from 0 up to but not including 1
 */
export function afterPowerLoss({ bytes, durable }: FakeDisk, random: () => number): Buffer {
	const length = durable + Math.floor(random() * (bytes.length - durable + 1));
	const left = Buffer.from(bytes.subarray(0, length));
	for (let at = durable; at < length; at = (Math.floor(at / SECTOR) + 1) * SECTOR) {
		const end = (Math.floor(at / SECTOR) + 1) * SECTOR;
		if (random() < 0.4) left.fill(0, at, Math.min(end, length));
	}
	return left;
}
