import { CliError, Exit } from "../../errors.ts";
import type { Document } from "../../rest/types.ts";
import { show } from "../../text/show.ts";
import { closest } from "../values/spellings.ts";
import { KeyCounts } from "../values/value-counts.ts";

/** A metadata key, and the flag that names it. */
export type NamedKey = { readonly flag: string; readonly key: string };

/** Keys that are listed where none is like what was typed. */
const MOST_LISTED = 5;

/** The metadata keys of documents that were listed. Memory grows with the number of different keys. */
export class ListedKeys {
	readonly #counts = new KeyCounts();
	readonly #keys = new Set<string>();
	#documents = 0;
	#withMetadata = 0;

	add({ metadata }: Document): void {
		this.#documents += 1;
		if (metadata === undefined) return;
		this.#withMetadata += 1;
		this.#counts.add(metadata);
		for (const key of metadata.keys()) this.#keys.add(key);
	}

	/** Whether there is a document, and none was listed with metadata. */
	get showNone(): boolean {
		return this.#documents > 0 && this.#withMetadata === 0;
	}

	get isEmpty(): boolean {
		return this.#documents === 0;
	}

	/** The first of these keys that no listed document has. */
	firstUnknown(named: readonly NamedKey[]): NamedKey | undefined {
		return named.find(({ key }) => !this.#keys.has(key));
	}

	/**
	 * The error for a key that no document has.
	 *
	 * @param end what the message ends with
	 */
	unknown({ flag, key }: NamedKey, dataset: string, end: string): CliError {
		const known = this.#counts.entries().map((entry) => entry.key);
		const near = closest(key, known);
		const listed = known.slice(0, MOST_LISTED).map((each) => show(each));
		const more = known.length > listed.length ? ", …" : "";
		const there = known.length === 0 ? "No document has any metadata." : `There are: ${listed.join(", ")}${more}.`;
		return new CliError(`${flag}: no document of dataset ${show(dataset)} has the key ${show(key)}${end}`, {
			exit: Exit.usage,
			hint: `${near === undefined ? there : `Did you mean ${show(near)}?`} --allow-empty accepts a key that no document has.`,
		});
	}
}
