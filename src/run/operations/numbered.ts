import type { Api, Document } from "../../rest/types.ts";
import { findAlike } from "../documents/pages.ts";
import type { Request } from "../types.ts";

/** Copies of one name that are looked through: who has more of them finds none made by looking further. */
const MOST = 100;

/**
 * The documents under the numbers that a service gives to further files of a name, to the first number that is free: that
 * is the one that it gives next (`duplicate_name` in api/db/services/__init__.py).
 */
export async function numberedCopies(
	api: Api,
	request: Request,
	datasetId: string,
	name: string,
): Promise<readonly Document[]> {
	const dot = name.lastIndexOf(".");
	const [stem, ending] = dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ""];
	const [, main = stem, number = "0"] = /^(.*)\((\d{1,9})\)$/s.exec(stem) ?? [];
	const copies: Document[] = [];
	const first = Number(number) + 1;
	for (let each = first; each < first + MOST; each++) {
		const found = await findAlike(api, request, datasetId, `${main.trimEnd()}(${each})${ending}`);
		if (found.length === 0) break;
		copies.push(...found);
	}
	return copies;
}
