import { dirname } from "node:path";
import { reason } from "../../errors.ts";

/**
 * What the storage said, with the folder that refused it where that is another: "permission denied" of a folder that is
 * to be made is about the one above it.
 *
 * @param folder that the sentence names already
 */
export function storageReason(error: unknown, folder: string): string {
	const why = reason(error);
	const path = pathOf(error);
	if (path === undefined || path.startsWith(`${folder}/`)) return why;
	return `${why}, in ${dirname(path)}`;
}

function pathOf(error: unknown): string | undefined {
	if (typeof error !== "object" || error === null || !("path" in error)) return undefined;
	return typeof error.path === "string" ? error.path : undefined;
}
