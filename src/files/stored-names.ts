import { flatName, isStoredName } from "../text/names.ts";

/** The forms of `--names`: `hr/a.pdf`, `hr__a.pdf`, `a.pdf`. */
export const NAME_FORMS = ["path", "flat", "base"] as const;
export type NameForm = (typeof NAME_FORMS)[number];

/** Bytes of a document's name that RAGFlow takes (`FILE_NAME_LEN_LIMIT` in api/constants.py). */
const LONGEST_NAME = 255;

/** The name that a file is stored under. @param relative its path from the folder that was named */
export function storedName(relative: string, form: NameForm): string {
	switch (form) {
		case "path":
			return relative;
		case "flat":
			return flatName(relative);
		case "base":
			return relative.slice(relative.lastIndexOf("/") + 1);
	}
}

/** What is wrong with a name to store a file under, as a clause; undefined where nothing is. */
export function nameFault(name: string): string | undefined {
	if (!isStoredName(name)) return "has a name that is not a plain file name; rename it";
	const bytes = Buffer.byteLength(name);
	if (bytes <= LONGEST_NAME) return undefined;
	return `would be stored under a name of ${bytes} bytes; a service takes ${LONGEST_NAME} at most`;
}

/** Two files that would be stored under one name. */
type Collision = { readonly first: string; readonly second: string; readonly name: string };

/**
 * The files whose names have the same key as that of an earlier one.
 *
 * @param named pairs of a file's path and the name that it would be stored under
 * @param key the text by which names are compared
 */
export function collisions(
	named: Iterable<readonly [path: string, name: string]>,
	key: (name: string) => string,
): Collision[] {
	const first = new Map<string, string>();
	const found: Collision[] = [];
	for (const [path, name] of named) {
		const same = first.get(key(name));
		if (same === undefined) first.set(key(name), path);
		else found.push({ first: same, second: path, name });
	}
	return found;
}

/** The text by which a name is compared whatever the service is: equal for names whose letters are composed differently. */
export function exactKey(name: string): string {
	return name.normalize();
}
