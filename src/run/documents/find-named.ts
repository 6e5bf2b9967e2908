import type { Document } from "../../rest/types.ts";
import { askFor } from "./find-document.ts";
import { type DatasetAccess, wholeList } from "./list.ts";
import { isRefusal, SMALL_PAGE } from "./pages.ts";

/** Every document of exactly that name, read now. */
export function findNamesakes(dataset: DatasetAccess, name: string): Promise<readonly Document[]> {
	return findNamed(dataset, name, (other) => isSameName(other, name));
}

/** Every document that has that name by the service's own comparison, read now. */
export function findAlike(dataset: DatasetAccess, name: string): Promise<readonly Document[]> {
	const { nameKey } = dataset.api.dialect.flavour;
	const key = nameKey(name);
	return findNamed(dataset, name, (other) => nameKey(other) === key);
}

/** Whether two names are the same text, however their letters are composed. */
export function isSameName(one: string, other: string): boolean {
	return one === other || one.normalize() === other.normalize();
}

/** The documents whose names pass `isNamed`: asked for, or found in the whole list where the service ignores the name. */
async function findNamed(
	dataset: DatasetAccess,
	name: string,
	isNamed: (name: string) => boolean,
): Promise<readonly Document[]> {
	const named = await askForName(dataset, name);
	if (named !== undefined) return named.filter((document) => isNamed(document.name));
	const found: Document[] = [];
	for await (const document of wholeList(dataset)) if (isNamed(document.name)) found.push(document);
	return found;
}

/** The documents that have a name by the service's own comparison; undefined where the service ignores or refuses names. */
export async function askForName(dataset: DatasetAccess, name: string): Promise<readonly Document[] | undefined> {
	const { nameKey } = dataset.api.dialect.flavour;
	const key = nameKey(name);
	const page = await askFor(dataset, { name }).catch((error: unknown) => {
		if (!isRefusal(error)) throw error;
	});
	// After a whole page, more may follow.
	if (page === undefined || page.items.length >= SMALL_PAGE) return undefined;
	return page.items.every((document) => nameKey(document.name) === key) ? page.items : undefined;
}
