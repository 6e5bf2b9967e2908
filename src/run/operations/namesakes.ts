import { rejected } from "../../rest/errors.ts";
import type { Document, UploadFile } from "../../rest/types.ts";
import { numberText } from "../../text/words.ts";
import { caselessName, flatName, foldedName } from "../../text/names.ts";
import { findAlike, isSameName } from "../documents/find-named.ts";
import type { DatasetAccess } from "../documents/list.ts";
import type { Named } from "../documents/stored-documents.ts";
import type { Service } from "../service/service.ts";

/** Numbered copies of one name that are read at most. */
const MOST_COPIES = 100;

/** The values of `--on-existing`, and `foreign` for a sync, for a dataset that has a document of the file's name. */
export type OnExisting = "error" | "skip" | "update-metadata" | "upload-again" | "replace" | "foreign";

/** The code of a file whose name a document has that no sync has put there. */
export const FOREIGN = "FOREIGN";

/** The documents of exactly that name or, if there are none, those whose names are equal to the service. */
export function namesakesMeant(namesakes: readonly Named[], name: string): readonly Named[] {
	const same = namesakes.filter((each) => isSameName(each.name, name));
	return same.length > 0 ? same : namesakes;
}

/**
 * The document that counts as the file, whose name is taken; undefined where the file is to be stored.
 *
 * @param found the documents that the name means
 * @throws RestError where the row fails for it
 */
export function existingAs(
	service: Service,
	onExisting: Exclude<OnExisting, "replace">,
	found: readonly Named[],
	{ name, size }: Pick<UploadFile, "name" | "size">,
): Named | undefined {
	// Of several documents of the name, the one that may be the file is meant.
	const same = found.find((each) => each.size === undefined || each.size === size);
	const present = same ?? found[0];
	if (present === undefined || onExisting === "upload-again") return undefined;
	const ids = found.map(({ id }) => id);
	const shown = `${ids.length > 1 ? "documents" : "document"} ${service.show(ids.join(", "))}`;
	const isSame = isSameName(present.name, name);
	const there = isSame
		? `the dataset has ${name} already, as ${shown}`
		: `the dataset has "${service.show(present.name)}", ${shown}, which is the same name for this service as "${name}"`;
	if (onExisting === "foreign") {
		const text = `${there}, which no sync of this folder has stored; it was left alone, and the file was not uploaded (--adopt takes it over where it is equal)`;
		throw rejected(FOREIGN, text);
	}
	if (onExisting === "error") {
		throw rejected("EXISTS", `${there}; it was not uploaded (--on-existing has other choices)`);
	}
	if (!isSame && !isMeant(onExisting, present.name, name)) {
		const text = `${there}; it was not uploaded, and that document was left alone, because it may belong to another client. Give the file another name in the column name`;
		throw rejected("EXISTS", text);
	}
	if (same === undefined) {
		const sizes = `with ${bytesOf(present.size)}, and the file has ${bytesOf(size)}`;
		const text = `the dataset has ${service.show(present.name)}, ${shown}, ${sizes}; nothing of this row was sent (--on-existing replace uploads it in its place, upload-again beside it)`;
		throw rejected("STALE_FILE", text);
	}
	if (onExisting !== "skip" && ids.length > 1) {
		const text = `the dataset has ${ids.length} documents named ${name}: ${shown}; nothing was written`;
		throw rejected("AMBIGUOUS_NAME", text);
	}
	return present;
}

function bytesOf(size: number | undefined): string {
	return size === 1 ? "1 byte" : `${numberText(size ?? 0)} bytes`;
}

/**
 * Whether a document counts as the file's although only the service treats their names as equal. It is written only if
 * the names differ by case alone; it is skipped also if they differ by accents. To MySQL any two emoji are the same;
 * here they are not.
 */
function isMeant(onExisting: "skip" | "update-metadata", stored: string, name: string): boolean {
	if (onExisting === "update-metadata") return caselessName(stored) === caselessName(name);
	return foldedName(withoutSymbols(stored)) === foldedName(withoutSymbols(name)) && symbols(stored) === symbols(name);
}

const SYMBOLS = /[\u{10000}-\u{10ffff}]/gu;

function symbols(name: string): string {
	return (name.match(SYMBOLS) ?? []).join("");
}

function withoutSymbols(name: string): string {
	return name.replaceAll(SYMBOLS, "");
}

/** A name without its ending, and the ending: `a` and `.txt`. */
function parts(name: string): readonly [string, string] {
	const dot = name.lastIndexOf(".");
	return dot > 0 ? [name.slice(0, dot), name.slice(dot)] : [name, ""];
}

/**
 * The documents under the numbers that a service gives to further files of a name, up to the first number that is free. The
 * service gives that number next (`duplicate_name` in api/db/services/__init__.py).
 */
async function numberedCopies(dataset: DatasetAccess, name: string): Promise<readonly Document[]> {
	const [stem, ending] = parts(name);
	const [, main = stem, number = "0"] = /^(.*)\((\d{1,9})\)$/s.exec(stem) ?? [];
	const copies: Document[] = [];
	const first = Number(number) + 1;
	for (let each = first; each < first + MOST_COPIES; each++) {
		const found = await findAlike(dataset, `${main.trimEnd()}(${each})${ending}`);
		if (found.length === 0) break;
		copies.push(...found);
	}
	return copies;
}

/**
 * The documents under the names that a service may give to a further file of a name. RAGFlow from v0.19.1 on numbers the base
 * name, without its folders (`duplicate_name` in api/db/services/__init__.py), and v1.0 drops the folders of every upload.
 */
export async function possibleCopies(dataset: DatasetAccess, name: string): Promise<readonly Document[]> {
	const base = name.slice(name.lastIndexOf("/") + 1);
	const copies = await numberedCopies(dataset, name);
	if (base === name) return copies;
	const plain = await findAlike(dataset, base);
	return [...copies, ...plain, ...(await numberedCopies(dataset, base))];
}

/**
 * Whether `stored` is a name that a service gives to a file whose name is taken: `a(1).txt`, and for a name with a number the
 * next number (`duplicate_name` in api/db/services/__init__.py).
 */
export function isNumbered(name: string, stored: string): boolean {
	const [stem, ending] = parts(name);
	const main = stem.replace(/\(\d+\)$/, "").trimEnd();
	if (!stored.endsWith(ending) || stored === name) return false;
	const numbered = stored.slice(0, stored.length - ending.length);
	return [stem, main].some((each) => numbered.startsWith(each) && /^\(\d+\)$/.test(numbered.slice(each.length)));
}

/**
 * The same for a name with folders, which most releases drop where they give a number: `a(1).txt` for `hr/a.txt`. One that
 * drops them always stores `a.txt`, or the flat name `hr__a.txt` that the file was sent under.
 */
export function isAnother(name: string, stored: string): boolean {
	const flat = flatName(name);
	const base = name.slice(name.lastIndexOf("/") + 1);
	return stored === flat || stored === base || [name, base, flat].some((each) => isNumbered(each, stored));
}
