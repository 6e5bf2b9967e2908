import type { Activity } from "../../activity.ts";

/** What a run shows of work that settles no row yet: documents that the service parses, and bytes of files that moved. */
export class LiveCounts {
	/** the progress of each row's document, from 0 to 1 */
	readonly #shares = new Map<object, number>();
	#bytes = 0;
	/** bytes of all files of the run, where that is known */
	total: number | undefined;
	/** called when a document was seen at work, and when bytes moved */
	onChange: () => void = () => undefined;

	/** @param row what stands for the row: its memory */
	parsing(row: object, share: number): void {
		this.#shares.set(row, share);
		this.onChange();
	}

	/** Its document is at work no longer. */
	ended(row: object): void {
		this.#shares.delete(row);
	}

	/** Bytes of a file went out or came in. Those of an attempt that fails count as well. */
	moved(bytes: number): void {
		this.#bytes += bytes;
		this.onChange();
	}

	get shown(): Pick<Activity, "parsing" | "bytes" | "bytesTotal"> {
		const running = this.#shares.size;
		let share = 0;
		for (const each of this.#shares.values()) share += each;
		return {
			parsing: running === 0 ? undefined : { running, share },
			bytes: this.#bytes === 0 ? undefined : this.#bytes,
			// A file that was tried twice counts twice.
			bytesTotal: this.total === undefined ? undefined : Math.max(this.total, this.#bytes),
		};
	}
}
