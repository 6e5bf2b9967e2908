import { type Command, InvalidArgumentError } from "commander";
import { reason } from "../../errors.ts";
import { type FactName, factOf, type FileFacts } from "../../files/facts.ts";
import { mayHaveFrontMatter, readFrontMatter } from "../../files/front-matter.ts";
import { type PathPattern, parsePattern } from "../../files/path-pattern.ts";
import { needs } from "../../flags/refuse.ts";
import { parseNonEmpty } from "../../flags/values.ts";
import type { JsonValue, Metadata } from "../../json/values.ts";
import type { Fault } from "../../manifest/fault.ts";
import { MemberNames } from "../../manifest/json/object.ts";
import { cellValue, splitType } from "../../manifest/rows/typed.ts";
import { readSidecar } from "../../manifest/sidecars/find.ts";
import type { Problem } from "../../manifest/types.ts";
import { excerpt } from "../../text/show.ts";

/** The facts of `--facts` that become keys. Times are UTC, in ISO form. */
const KEY_FACTS = ["path", "folder", "ext", "size", "mtime", "sha256"] as const satisfies readonly FactName[];

type KeyFact = (typeof KEY_FACTS)[number];

/** Where the value of a key comes from, the weakest first: a later one wins. */
export type Origin = "fact" | "pattern" | "front matter" | "sidecar";

/** What is taken from files. */
export type Sources = {
	readonly facts: readonly KeyFact[];
	readonly pattern: PathPattern | undefined;
	/** whether a path that the pattern does not match is a problem */
	readonly isStrict: boolean;
	/** the only keys that are taken; undefined for all */
	readonly keys: ReadonlySet<string> | undefined;
};

type FileValues = {
	readonly values: ReadonlyMap<string, { readonly value: JsonValue; readonly origin: Origin }>;
	/** whether a pattern was given and the path does not match it */
	readonly isUnmatched: boolean;
	readonly problems: readonly Problem[];
};

/** All that is known of a file. A file that can't be read is a problem, and never an exception. */
export async function valuesOf(file: FileFacts, sources: Sources): Promise<FileValues> {
	const found = new Found(file, sources.keys);
	try {
		for (const name of sources.facts) found.set(name, name === "size" ? file.size : await factOf(name, file), "fact");
		const isUnmatched = !found.match(sources.pattern);
		if (isUnmatched && sources.isStrict) {
			found.problem(file.path, { field: null, code: "NO_MATCH", text: "does not match --pattern" });
		}
		if (mayHaveFrontMatter(file.ext)) await found.readFrontMatter();
		if (file.sidecar !== undefined) await found.readSidecar(file.sidecar);
		return { values: found.values, problems: found.problems, isUnmatched };
	} catch (error) {
		found.problem(file.path, { field: "file", code: "BAD_FILE", text: `can't be read: ${reason(error)}` });
		return { values: found.values, problems: found.problems, isUnmatched: false };
	}
}

class Found {
	readonly values = new Map<string, { readonly value: JsonValue; readonly origin: Origin }>();
	readonly problems: Problem[] = [];
	readonly #file: FileFacts;
	readonly #keys: ReadonlySet<string> | undefined;

	constructor(file: FileFacts, keys: ReadonlySet<string> | undefined) {
		this.#file = file;
		this.#keys = keys;
	}

	set(key: string, value: JsonValue, origin: Origin): void {
		// An empty folder says nothing: a key without a value is an empty cell.
		if (value === "" || this.#keys?.has(key) === false) return;
		this.values.set(key, { value, origin });
	}

	setAll(metadata: Metadata, origin: Origin): void {
		for (const [key, value] of metadata) this.set(key, value, origin);
	}

	problem(file: string, { field, code, text }: Fault, place = { line: 1, column: 1 }): void {
		this.problems.push({ file, ...place, field, code, text: field === null ? text : `${excerpt(field)}: ${text}` });
	}

	/** @returns whether the path matches */
	match(pattern: PathPattern | undefined): boolean {
		if (pattern === undefined) return true;
		const fields = pattern(this.#file.relative);
		for (const [name, text] of fields ?? []) {
			const { key, type } = splitType(name);
			const result = cellValue(text, type);
			if ("value" in result) this.set(key, result.value, "pattern");
			else this.problem(this.#file.path, { field: key, code: result.code, text: result.fault });
		}
		return fields !== undefined;
	}

	async readFrontMatter(): Promise<void> {
		const { path } = this.#file;
		const read = await readFrontMatter(path);
		if ("text" in read) {
			const { line, column, text } = read;
			return this.problem(
				path,
				{ field: null, code: "BAD_FRONT_MATTER", text: `front matter: ${text}` },
				{ line, column },
			);
		}
		this.setAll(read, "front matter");
	}

	async readSidecar(sidecar: string): Promise<void> {
		const read = await readSidecar(sidecar, new MemberNames({ map: new Map(), ignore: new Set() }));
		for (const fault of read?.parsed.faults ?? []) this.problem(sidecar, fault);
		this.setAll(read?.parsed.metadata ?? new Map(), "sidecar");
	}
}

/** Flags that say which keys come from files. */
export type SourceFlags = {
	readonly facts?: readonly KeyFact[] | undefined;
	readonly pattern?: string | undefined;
	readonly strict?: boolean | undefined;
	readonly keys?: readonly string[] | undefined;
};

/** Options of commands that take keys from files. */
export function addSourceOptions(command: Command): Command {
	return command
		.option("--facts <list>", `facts that become keys: ${KEY_FACTS.join(",")}`, parseFacts)
		.option("--pattern <text>", "keys from the path, as '{category}/{year:number}_{title}.pdf'", parseNonEmpty)
		.option("--strict", "a path that does not match --pattern is a problem")
		.option("--keys <list>", "only these keys", (text) => text.split(",").filter((key) => key !== ""));
}

/** @throws CliError exit 2 for flags that mean nothing without others */
export function checkSources({ strict, pattern }: SourceFlags): void {
	needs("--pattern", pattern !== undefined, { "--strict": strict });
}

/** @throws CliError exit 2 for a pattern that is none */
export function sourcesOf({ facts = [], pattern, strict = false, keys }: SourceFlags): Sources {
	return {
		facts,
		pattern: pattern === undefined ? undefined : parsePattern(pattern),
		isStrict: strict,
		keys: keys && new Set(keys),
	};
}

function parseFacts(text: string): KeyFact[] {
	return text.split(",").map((word) => {
		const fact = KEY_FACTS.find((each) => each === word);
		if (fact !== undefined) return fact;
		throw new InvalidArgumentError(`"${word}" is no fact; facts are ${KEY_FACTS.join(", ")}.`);
	});
}
