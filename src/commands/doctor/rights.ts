import { Exit } from "../../errors.ts";
import type { Check } from "../../report/checks.ts";
import type { Dataset } from "../../rest/types.ts";
import { show } from "../../text/show.ts";
import { type Attempted, failed, skipped } from "./attempt.ts";

/** The dataset that rights are asked of. */
export type Chosen = {
	readonly id: string;
	/** what named it, or undefined for the first of the list */
	readonly origin: string | undefined;
	readonly documents: number | undefined;
};

/** @param listed how many documents the dataset says it has, where it was named */
export function datasetCheck(
	named: { readonly value: string; readonly origin: string } | undefined,
	first: Dataset | undefined,
	listed: Attempted<number | undefined> | undefined,
): { readonly check: Check; readonly chosen: Chosen | undefined } {
	const name = "dataset";
	if (named !== undefined && listed !== undefined) {
		if ("error" in listed) return { check: failed(name, listed.error, "ragtag datasets list"), chosen: undefined };
		const chosen = { id: named.value, origin: named.origin, documents: listed.value };
		const text = `${show(chosen.id)} (${chosen.origin}) can be listed${countText(chosen.documents)}`;
		return { check: { name, status: "ok", text }, chosen };
	}
	if (first === undefined) {
		const hint = "Make one with: ragtag datasets create NAME";
		return { check: skipped(name, "there is none yet", hint, "ragtag datasets create NAME"), chosen: undefined };
	}
	const chosen = { id: first.id, origin: undefined, documents: first.documentCount };
	const text = `none was named; the first of the list is ${show(first.name)}, ${show(first.id)}${countText(chosen.documents)}`;
	return { check: { name, status: "ok", text }, chosen };
}

export function rightCheck(right: "may" | "may_not" | "unknown", id: string, ownerAlone: boolean): Check {
	const name = "right";
	const where = `in dataset ${show(id)}`;
	switch (right) {
		case "may":
			return { name, status: "ok", text: `this key may update metadata ${where}; nothing was changed to learn it` };
		case "unknown": {
			const hint = "The first row of a run will show it.";
			const text = `whether this key may update metadata ${where} can't be told without writing`;
			return { name, status: "warning", text, hint };
		}
		case "may_not":
			return {
				name,
				status: "failed",
				text: ownerAlone
					? `this key can list, upload and remove ${where}, and may not update: only the owner's key can there`
					: `this key can list ${where}, and may not update`,
				hint: "Use the key of the dataset's owner.",
				exit: Exit.failedRows,
				next: "ragtag doctor --api-key-file PATH",
			};
	}
}

function countText(documents: number | undefined): string {
	return documents === undefined ? "" : `, and has ${documents} ${documents === 1 ? "document" : "documents"}`;
}
