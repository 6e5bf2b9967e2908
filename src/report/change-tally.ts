import { show } from "../text/show.ts";
import { numberText, documentsText } from "../text/words.ts";
import type { JsonValue } from "../json/values.ts";
import type { Difference } from "../plan/change.ts";

/** Most keys whose removals are counted by name: the documents may have any number of keys. */
const MAX_COUNTED_KEYS = 10_000;

/** Most keys that a message names. */
const MAX_NAMED_KEYS = 10;

/** What would happen to a document, in words, and the colour of that; in the order in which they are counted. */
export const EFFECTS = {
	download: ["downloaded", "green"],
	upload: ["uploaded", "green"],
	replace: ["replaced", "yellow"],
	rename: ["renamed", "yellow"],
	remove: ["removed", "red"],
	parse: ["parsed", "yellow"],
} as const;

/** Counts of the changes that a dry run has shown. */
export class ChangeTally {
	/** documents that would change, uploads, replacements, removals and downloads included */
	documents = 0;
	/** documents that no row names */
	undeclared = 0;
	readonly #actions = new Map<string, number>();
	readonly #waits: boolean;
	readonly #keys = { added: 0, changed: 0, removed: 0 };
	readonly #removals = new Map<string, number>();

	/** @param waits whether documents are replaced only after the parsing of the new ones */
	constructor(waits = false) {
		this.#waits = waits;
	}

	add({ action, difference: { add, change, remove } }: Pick<ShownChange, "action" | "difference">): void {
		this.documents += 1;
		this.#actions.set(action, this.#count(action) + 1);
		// The keys of an upload, a replacement or a removal are not counted by themselves.
		if (action !== "update") return;
		this.#keys.added += add.size;
		this.#keys.changed += change.size;
		this.#keys.removed += remove.size;
		for (const key of remove.keys()) {
			const before = this.#removals.get(key);
			if (before !== undefined || this.#removals.size < MAX_COUNTED_KEYS) this.#removals.set(key, (before ?? 0) + 1);
		}
	}

	/** `3 documents would be uploaded. 2 documents would change; keys: 3 added, 1 changed, 1 removed.` */
	text(): string {
		const [update, replace] = [this.#count("update"), this.#count("replace")];
		const parts = Object.entries(EFFECTS).flatMap(([action, [word]]) => {
			const count = this.#count(action);
			return count === 0 ? [] : [`${documentsText(count)} would be ${word}.`];
		});
		const keys = Object.entries(this.#keys).filter(([, count]) => count > 0);
		const keysText = keys.map(([what, count]) => `${numberText(count)} ${what}`).join(", ");
		if (update > 0) parts.push(`${documentsText(update)} would change; keys: ${keysText}.`);
		// Questions find the chunks of a document, and those of the new one are made by parsing.
		if (replace > 0) {
			const found = this.#waits ? "" : `Questions find ${replace === 1 ? "it" : "these"} only after parsing. `;
			parts.push(`${found}What was edited by hand in ${replace === 1 ? "its" : "their"} chunks is lost.`);
		}
		return parts.length === 0 ? "No document would change." : parts.join(" ");
	}

	#count(action: string): number {
		return this.#actions.get(action) ?? 0;
	}

	/** The counts, the keys that would be removed, and the documents that no row names. */
	texts(): string[] {
		return [this.text(), this.removedText(), this.undeclaredText()].filter((text) => text !== undefined);
	}

	/** `1 document of the datasets is in no row.`; undefined where there is none, or nothing was compared. */
	undeclaredText(): string | undefined {
		const verb = this.undeclared === 1 ? "is" : "are";
		return this.undeclared === 0 ? undefined : `${documentsText(this.undeclared)} ${verb} in no row of the manifest.`;
	}

	/**
	 * The keys that would be removed, those of most documents first; undefined where none would.
	 *
	 * @param showKey makes a key safe to print
	 */
	removedText(showKey: (key: string) => string = (key) => show(key)): string | undefined {
		if (this.#removals.size === 0) return undefined;
		const most = [...this.#removals].toSorted(([, left], [, right]) => right - left);
		const named = most.slice(0, MAX_NAMED_KEYS).map(([key, count]) => `${showKey(key)} (${documentsText(count)})`);
		const more = most.length > MAX_NAMED_KEYS ? `, and ${numberText(most.length - MAX_NAMED_KEYS)} more` : "";
		return `Keys that would be removed: ${named.join(", ")}${more}.`;
	}
}

/**
 * The effect of a row: it changes a document's metadata, creates a document from a file, replaces its content, removes it,
 * writes it into a file, or makes its chunks.
 */
type ChangeAction = "update" | keyof typeof EFFECTS;

/** One document that would change, as a dry run shows it. */
export type ShownChange = {
	readonly action: ChangeAction;
	/** line of its row in the manifest; 0 where it is not known */
	readonly line: number;
	readonly datasetId: string;
	/** empty for an upload, whose document does not exist yet */
	readonly documentId: string;
	/** undefined where it is not known */
	readonly name?: string | undefined;
	/** `rename`: the name that it has */
	readonly from?: string | undefined;
	/** `upload`, `replace` and `download`: path of the file */
	readonly file?: string | undefined;
	/** for a removal, all keys of the document are removed */
	readonly difference: Difference;
};

/** A document that no row of a manifest names. */
export type UndeclaredDocument = {
	readonly datasetId: string;
	readonly documentId: string;
	/** undefined where it is not known */
	readonly name: string | undefined;
};

/** One key that would change; `from` is undefined where it is added, `to` where it is removed. */
export type ShownKey = {
	readonly key: string;
	readonly action: "add" | "change" | "remove";
	readonly from: JsonValue | undefined;
	readonly to: JsonValue | undefined;
};

/** The keys of a change: those that are added, then those that change, then those that are removed. */
export function shownKeys({ add, change, remove }: Difference): ShownKey[] {
	const added = Array.from(add, ([key, to]): ShownKey => ({ key, action: "add", from: undefined, to }));
	const changed = Array.from(change, ([key, { from, to }]): ShownKey => ({ key, action: "change", from, to }));
	const removed = Array.from(remove, ([key, from]): ShownKey => ({ key, action: "remove", from, to: undefined }));
	return [...added, ...changed, ...removed];
}

/** A key in a line that begins with a sign: logs have no colour. Values are JSON, so that the text "5" and the number 5 differ. */
export function keyText({ key, action, from, to }: ShownKey, longest: number, changeSign = "~"): string {
	const [before, after] = [from, to].map((value) => (value === undefined ? "" : show(JSON.stringify(value), longest)));
	const name = show(key, longest);
	switch (action) {
		case "add":
			return `+ ${name}: ${after}`;
		case "change":
			return `${changeSign} ${name}: ${before} → ${after}`;
		case "remove":
			return `- ${name}: ${before}`;
	}
}
