import { sha256Of } from "../input-file.ts";
import type { FileFacts } from "./facts.ts";

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
