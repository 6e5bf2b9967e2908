import type { Release } from "../flavours/release.ts";
import { pythonType } from "../python.ts";
import { documentNameLimit } from "../store/documents.ts";
import { Code, exception, Failure, worded } from "./failure.ts";

/** Endings of file names that all releases take, by their type. Endings that only some take are left out. */
const ENDINGS: readonly (readonly [type: string, endings: string])[] = [
	["pdf", "pdf"],
	["doc", "msg eml doc docx ppt pptx yml xml htm html json csv txt ini xls xlsx wps rtf hlp pages numbers key md"],
	["doc", "py js java c cpp h php go ts sh cs kt sql"],
	["aural", "wav flac ape alac wv mp3 aac ogg opus"],
	["visual", "jpg jpeg png tif gif pcx tga exif fpx svg psd cdr pcd dxf ufo eps ai raw webp avif apng ico"],
	["visual", "mpg mpeg avi rm rmvb mov wmv asf dat mp4 mkv"],
];

const fileTypes: ReadonlyMap<string, string> = new Map(
	ENDINGS.flatMap(([type, line]) => line.split(" ").map((ending) => [ending, type] as const)),
);

/** All that follows the last dot counts, also of a name like `.txt` (`filename_type` in api/utils/file_utils.py). */
export function fileTypeOf(name: string): string {
	const dot = name.lastIndexOf(".");
	return (dot < 0 ? undefined : fileTypes.get(name.slice(dot + 1).toLowerCase())) ?? "other";
}

/** The ending of a name, in small letters and without its dot; empty where there is none. */
export function suffixOf(name: string): string {
	const dot = name.lastIndexOf(".");
	return dot <= name.lastIndexOf("/") + 1 ? "" : name.slice(dot + 1).toLowerCase();
}

/** In v0.18 and v0.19.0 a name must have fewer bytes than this. */
export const nameLimit018 = 128;

/** Attempts to number a name: the server's own limit. */
const mostAttempts = 1000;

/** The name that is stored where `name` may be taken: `a.txt`, then `a(1).txt`, `a(2).txt` and so on. */
export function freeName(name: string, isTaken: (name: string) => boolean, keepsFolders = false): string {
	let free = name;
	for (let attempts = 0; isTaken(free) && attempts < mostAttempts; attempts++) free = numberedName(free, keepsFolders);
	return free;
}

/** The same in v1.0, which puts a number between a name and its ending: `a(1).txt` becomes `a(1)(1).txt`. */
export function appendedName(stem: string, ending: string, isTaken: (name: string) => boolean): string {
	let free = stem + ending;
	for (let number = 1; isTaken(free) && number < mostAttempts; number++) free = `${stem}(${number})${ending}`;
	return free;
}

/**
 * Here the server reads a name as a path, and nowhere else: it drops all before the last slash. Up to v0.19.0 it kept that, and
 * blanks before the number.
 */
function numberedName(path: string, keepsFolders: boolean): string {
	const name = path.slice(path.lastIndexOf("/") + 1);
	const dot = name.lastIndexOf(".");
	const [stem, ending] = dot < 1 ? [name, ""] : [name.slice(0, dot), name.slice(dot)];
	const [, main = stem, number = "0"] = /^(.*?)\((\d+)\)$/.exec(stem) ?? [];
	const end = `(${Number(number) + 1})${ending}`;
	return keepsFolders ? path.slice(0, path.length - name.length) + main + end : main.trimEnd() + end;
}

/**
 * Throws where a document can't have a new name. `equalNames` are those that the database finds equal; the server
 * compares them again, letter by letter.
 */
export function checkName(
	name: unknown,
	before: string,
	equalNames: readonly string[],
	release: Release,
): asserts name is string {
	if (typeof name !== "string") {
		const why = `'${pythonType(name)}' object has no attribute 'encode'`;
		throw exception(release.values === "any" ? `AttributeError("${why}")` : `AttributeError(${why})`);
	}
	if (release.datasets.checks === "loose" && Buffer.byteLength(name) >= nameLimit018)
		throw new Failure(Code.argument, `The name should be less than ${nameLimit018} bytes.`);
	if (Buffer.byteLength(name) > documentNameLimit)
		throw new Failure(Code.argument, `File name must be ${documentNameLimit} bytes or less.`);
	if (pathSuffix(name) !== pathSuffix(before))
		throw new Failure(Code.argument, worded("The extension of file can't be changed", release, "all"));
	if (equalNames.includes(name))
		throw new Failure(Code.data, worded("Duplicated document name in the same dataset.", release, "all"));
}

/** The suffix by Python's `pathlib`, with its dot: a name whose only dot is its first or last character has none. */
function pathSuffix(name: string): string {
	const last = name.toLowerCase().split("/").at(-1) ?? "";
	const dot = last.lastIndexOf(".");
	return dot < 1 || dot === last.length - 1 ? "" : last.slice(dot);
}
