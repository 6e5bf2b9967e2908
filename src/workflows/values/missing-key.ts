import { CliError, Exit, usageError } from "../../errors.ts";
import { show } from "../../text/show.ts";
import { closest } from "./spellings.ts";
import type { KeyCounts } from "./value-counts.ts";

/** Keys that a message lists. */
const MOST_LISTED = 10;

/** Refuses a key that no document has, and a list that shows no metadata. @throws CliError exit 2, or 1 */
export function refuseMissing(keys: readonly string[], counted: KeyCounts, dataset: string): void {
	if (counted.documents > 0 && counted.withMetadata === 0) {
		throw new CliError(`the list of dataset ${show(dataset)} shows no metadata, so there is nothing to count`, {
			exit: Exit.failedRows,
			hint: "ragtag doctor says what this service is.",
		});
	}
	const known = counted.entries().map((entry) => entry.key);
	const missing = keys.find((key) => !known.includes(key));
	if (missing === undefined) return;
	const near = closest(missing, known);
	const listed = known.slice(0, MOST_LISTED).map((key) => show(key));
	const there = listed.length === 0 ? "No document has any metadata." : `The commonest keys: ${listed.join(", ")}.`;
	throw usageError(
		`no document of dataset ${show(dataset)} has the key ${show(missing)}`,
		near === undefined ? there : `Did you mean ${show(near)}?`,
	);
}
