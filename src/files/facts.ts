import type { Stats } from "node:fs";
import { isAbsolute, join, posix, sep } from "node:path";
import { sha256Of } from "../input-file.ts";

/** A file on this machine, as it was found. Paths have `/` between their parts. */
export type FileFacts = {
	/** the absolute path by which it is opened */
	readonly path: string;
	/** its path from the folder that was named: `hr/a.pdf`. The base name of a file that was named itself */
	readonly relative: string;
	/** the folder of `relative`: `hr`; empty at the top */
	readonly folder: string;
	/** the base name: `a.pdf` */
	readonly name: string;
	/** the ending without its dot, as it is written: `pdf`; empty where there is none */
	readonly ext: string;
	/** in bytes */
	readonly size: number;
	/** when its content was last written, in milliseconds since 1970, with fractions */
	readonly mtime: number;
	/** device and inode, to be compared with those of an earlier time alone: above 2^53 they come rounded */
	readonly dev: number;
	readonly ino: number;
	/** the path of its sidecar, where sidecars count and it has one: absolute, or as it was named */
	readonly sidecar: string | undefined;
};

/** The facts of a file by its paths and its status. */
export function factsOf(
	{ path, relative, sidecar }: Pick<FileFacts, "path" | "relative" | "sidecar">,
	{ size, mtimeMs, dev, ino }: Pick<Stats, "size" | "mtimeMs" | "dev" | "ino">,
): FileFacts {
	// The dot of `.profile` begins a hidden name, and no ending.
	const { dir: folder, base: name, ext } = posix.parse(relative);
	return { path, relative, folder, name, ext: ext.slice(1), size, mtime: mtimeMs, dev, ino, sidecar };
}

/** A file or folder by the path that opens it, the one from the folder that was named, and the one without links. */
export type Place = { readonly path: string; readonly relative: string; readonly real: string };

/** What a folder holds under a name. */
export function inFolder({ path, relative, real }: Place, name: string): Place {
	return {
		path: join(path, name),
		relative: relative === "" ? name : `${relative}/${name}`,
		real: join(real, name),
	};
}

/** Whether a path from a folder leads out of it. */
export function isAbove(relative: string): boolean {
	return relative === ".." || relative.startsWith(`..${sep}`) || relative.startsWith("../") || isAbsolute(relative);
}

/** Facts of files by their names in texts such as `{folder}`. Times are UTC. */
const FACTS = {
	path: ({ relative }) => relative,
	folder: ({ folder }) => folder,
	name: ({ name }) => name,
	stem: ({ name, ext }) => (ext === "" ? name : name.slice(0, -ext.length - 1)),
	ext: ({ ext }) => ext,
	size: ({ size }) => String(size),
	mtime: (facts) => timeOf(facts),
	"mtime:date": (facts) => timeOf(facts).slice(0, 10),
	"mtime:year": (facts) => String(Number(timeOf(facts).slice(0, 4))),
	"mtime:month": (facts) => String(Number(timeOf(facts).slice(5, 7))),
	"mtime:day": (facts) => String(Number(timeOf(facts).slice(8, 10))),
	sha256: ({ path }) => sha256Of(path),
} as const satisfies Readonly<Record<string, (facts: FileFacts) => string | Promise<string>>>;

export type FactName = keyof typeof FACTS;

/** All names, for people. */
export const FACT_NAMES = Object.keys(FACTS).map((name) => `{${name}}`);

/** A text with facts in it: its literal pieces and the names of facts. */
export type FactText = readonly (string | { readonly fact: FactName })[];

/** A word in braces that may be meant for a fact. */
const WORD = /\{([a-z0-9]+(?::[a-z]+)?)\}/g;

/**
 * Reads a text with facts in it.
 *
 * @returns undefined where it names none; `unknown` for a word in braces that is no fact
 */
export function parseFactText(text: string): FactText | { readonly unknown: string } | undefined {
	const pieces: (string | { readonly fact: FactName })[] = [];
	let end = 0;
	for (const { 0: whole, 1: name = "", index } of text.matchAll(WORD)) {
		if (!isFact(name)) return { unknown: whole };
		pieces.push(text.slice(end, index), { fact: name });
		end = index + whole.length;
	}
	return end === 0 ? undefined : [...pieces, text.slice(end)];
}

/** A fact as text. @throws Error of the system where the content of the file is needed and can't be read */
export async function factOf(fact: FactName, facts: FileFacts): Promise<string> {
	return FACTS[fact](facts);
}

/** The text for one file. @throws Error of the system where its content is needed and can't be read */
export async function factTextOf(text: FactText, facts: FileFacts): Promise<string> {
	let filled = "";
	for (const piece of text) filled += typeof piece === "string" ? piece : await factOf(piece.fact, facts);
	return filled;
}

function isFact(name: string): name is FactName {
	return Object.hasOwn(FACTS, name);
}

function timeOf({ mtime }: FileFacts): string {
	return new Date(mtime).toISOString();
}
