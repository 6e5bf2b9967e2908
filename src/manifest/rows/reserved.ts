import { isOneLetterApart } from "../../text/names.ts";
import type { Role } from "../purposes.ts";

const ROLES: ReadonlySet<string> = new Set<Role>(["document_id", "dataset_id", "file", "name"]);

/** Columns of a failed-rows file, which can be fed back as it is. */
export const FAILURE_COLUMNS = ["_line", "_error_code", "_error", "_attempts"] as const;
const IGNORED: ReadonlySet<string> = new Set(FAILURE_COLUMNS);

/** A mistyped one would send the id as metadata, or the metadata as a key. */
const GUARDED = ["document_id", "dataset_id", "meta_fields"] as const;

export function isRole(name: string): name is Role {
	return ROLES.has(name);
}

export function isFailureColumn(name: string): boolean {
	return IGNORED.has(name);
}

export function isReserved(name: string): boolean {
	return name === "meta_fields" || ROLES.has(name) || IGNORED.has(name);
}

/** The reserved name that was probably meant, where a name differs from it by case, spaces, dashes or a letter. */
export function meantReserved(name: string): string | undefined {
	if (isReserved(name) || name.length > 30) return undefined;
	const bare = plain(name);
	return GUARDED.find((guarded) => isOneLetterApart(bare, plain(guarded)));
}

function plain(name: string): string {
	return name.toLowerCase().replaceAll(/[\s_-]/gu, "");
}
