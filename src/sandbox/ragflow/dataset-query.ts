import type { Release } from "../flavours/release.ts";
import { filledDatasetId } from "../store/index.ts";
import type { PageWindow } from "../store/pages.ts";

/** What a list of datasets is asked for. */
export type ListQuery = {
	readonly id?: string;
	readonly name?: string;
	readonly window: PageWindow;
	readonly descending: boolean;
};

/**
 * An id as 32 digits in small letters, or why it is not valid. Ids of the server are UUIDs of version 1, and those of
 * the sandbox have that form. The dataset of `--documents` has a fixed id without it, which is accepted.
 */
export function uuidOf(text: string, { datasets }: Release): { readonly id: string } | { readonly why: string } {
	const digits = text
		.replaceAll("urn:", "")
		.replaceAll("uuid:", "")
		.replace(/^[{}]+|[{}]+$/g, "")
		.replaceAll("-", "");
	const id = digits.toLowerCase();
	const isUuid = /^[\da-f]{32}$/.test(id);
	if (datasets.ids === "uuid") return isUuid ? { id } : { why: "Invalid UUID format" };
	if (!isUuid) return { why: "Invalid UUID1 format" };
	if (id === filledDatasetId || /^.{12}1.{3}[89ab]/.test(id)) return { id };
	return { why: "Must be a UUID1 format" };
}
