import type { Difference } from "../../plan/diff.ts";
import { show } from "../../text.ts";
import { documentsText, numberText } from "../summary.ts";

/** Keys whose removals are counted by name; a manifest of other documents could have any number. */
const COUNTED = 10_000;
/** Keys that are named. */
const NAMED = 10;

/** What a dry run has shown so far. */
export class ChangeTally {
	#documents = 0;
	#added = 0;
	#changed = 0;
	#removed = 0;
	readonly #removals = new Map<string, number>();

	/** documents that would change */
	get documents(): number {
		return this.#documents;
	}

	see({ add, change, remove }: Difference): void {
		this.#documents += 1;
		this.#added += add.size;
		this.#changed += change.size;
		this.#removed += remove.size;
		for (const key of remove.keys()) {
			const before = this.#removals.get(key);
			if (before !== undefined || this.#removals.size < COUNTED) this.#removals.set(key, (before ?? 0) + 1);
		}
	}

	/** `2 documents would change: 3 keys added, 1 changed, 1 removed`. */
	text(): string {
		if (this.#documents === 0) return "No document would change.";
		const keys = [
			[this.#added, "added"],
			[this.#changed, "changed"],
			[this.#removed, "removed"],
		] as const;
		const parts = keys.filter(([count]) => count > 0).map(([count, what]) => `${numberText(count)} ${what}`);
		return `${documentsText(this.#documents)} would change; keys: ${parts.join(", ")}.`;
	}

	/** Which keys would be lost, those of most documents first; undefined where none would. */
	removedText(): string | undefined {
		if (this.#removals.size === 0) return undefined;
		const most = [...this.#removals].toSorted(([, left], [, right]) => right - left);
		const named = most.slice(0, NAMED).map(([key, count]) => `${show(key)} (${documentsText(count)})`);
		const more = most.length > NAMED ? `, and ${numberText(most.length - NAMED)} more` : "";
		return `Keys that would be removed: ${named.join(", ")}${more}.`;
	}
}
