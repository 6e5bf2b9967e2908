import { InvalidArgumentError } from "commander";
import type { App } from "../../app.ts";
import { reason, usageError } from "../../errors.ts";
import {
	FACT_NAMES,
	type FactName,
	factOf,
	type FactText,
	factTextOf,
	type FileFacts,
	parseFactText,
} from "../../files/facts.ts";
import { mayHaveFrontMatter, readFrontMatter } from "../../files/front-matter.ts";
import { parsePattern } from "../../files/path-pattern.ts";
import { toggle, valued, type ValuesOf } from "../../flags/declare.ts";
import { parseNonEmpty } from "../../flags/values.ts";
import type { JsonValue, Metadata } from "../../json/values.ts";
import { type Fault, problemOf } from "../../manifest/fault.ts";
import { memberNames } from "../../manifest/json/object.ts";
import { emptyRow } from "../../manifest/rows/row-reader.ts";
import { cellValue, splitType } from "../../manifest/rows/typed.ts";
import { rowValidator } from "../../manifest/rows/validator.ts";
import { readSidecar } from "../../manifest/json/sidecar.ts";
import type { ManifestOptions, Problem, SetCell } from "../../manifest/types.ts";
import { excerpt } from "../../text/show.ts";
import { problemReporter } from "../check/check-manifest.ts";

/** The facts of `--facts` that become keys. Times are UTC, in ISO form. */
const KEY_FACTS = ["path", "folder", "ext", "size", "mtime", "sha256"] as const satisfies readonly FactName[];

type KeyFact = (typeof KEY_FACTS)[number];

/** Where the value of a key comes from, the weakest first: a later one wins. */
export type Origin = "fact" | "pattern" | "front matter" | "sidecar";

/**
 * All that is known of a file. A file that can't be read is a problem, and never an exception.
 *
 * @returns also whether a pattern was given and the path does not match it
 */
export async function valuesOf(file: FileFacts, sources: Sources) {
	const { facts, pattern, isStrict, keys } = sources;
	const values = new Map<string, { readonly value: JsonValue; readonly origin: Origin }>();
	const problems: Problem[] = [];
	const set = (key: string, value: JsonValue, origin: Origin): void => {
		// An empty folder says nothing: a key without a value is an empty cell.
		if (value !== "" && keys?.has(key) !== false) values.set(key, { value, origin });
	};
	const problem = (...found: Parameters<typeof problemOf>): void => void problems.push(problemOf(...found));
	try {
		for (const name of facts) set(name, name === "size" ? file.size : await factOf(name, file), "fact");
		const fields = pattern?.(file.relative);
		for (const [name, text] of fields ?? []) {
			const { key, type } = splitType(name);
			const result = cellValue(text, type);
			if ("value" in result) set(key, result.value, "pattern");
			else problem(file.path, { field: key, code: result.code, text: result.fault });
		}
		const isUnmatched = pattern !== undefined && fields === undefined;
		if (isUnmatched && isStrict) {
			problem(file.path, { field: null, code: "NO_MATCH", text: "does not match --pattern" });
		}
		const front = mayHaveFrontMatter(file.ext) ? await readFrontMatter(file.path) : new Map<string, JsonValue>();
		if ("text" in front) {
			const { line, column, text } = front;
			const fault = { field: null, code: "BAD_FRONT_MATTER", text: `front matter: ${text}` };
			problem(file.path, fault, { line, column });
		} else for (const [key, value] of front) set(key, value, "front matter");
		if (file.sidecar !== undefined) {
			const read = await readSidecar(file.sidecar, memberNames({ map: new Map(), ignore: new Set() }));
			if (read === undefined) problem(file.path, noSidecar(file.sidecar));
			for (const fault of read?.parsed.faults ?? []) problem(file.sidecar, fault, read?.placeOf(fault));
			for (const [key, value] of read?.parsed.metadata ?? []) set(key, value, "sidecar");
		}
		return { values, problems, isUnmatched };
	} catch (error) {
		problem(file.path, { field: "file", code: "BAD_FILE", text: `can't be read: ${reason(error)}` });
		return { values, problems, isUnmatched: false };
	}
}

/** The fault of a file whose sidecar was named, or found a moment ago. */
function noSidecar(sidecar: string): Fault {
	return { field: null, code: "NO_SIDECAR", text: `has no sidecar: there is no ${excerpt(sidecar)}` };
}

/** Options that say which keys come from files. */
export const SOURCES = {
	facts: valued("--facts <list>", `facts that become keys: ${KEY_FACTS.join(",")}`, parseFacts),
	pattern: valued("--pattern <text>", "keys from the path, as '{category}/{year:number}_{title}.pdf'", parseNonEmpty),
	strict: toggle("--strict", "a path that does not match --pattern is a problem").rule("needs", "--pattern"),
	keys: valued("--keys <list>", "only these keys", (text) => text.split(",").filter((key) => key !== "")),
};

export type SourceFlags = ValuesOf<typeof SOURCES>;

export type Sources = ReturnType<typeof sourcesOf>;

/** What is taken from files. @throws CliError exit 2 for a pattern that is none */
export function sourcesOf({ facts = [], pattern, strict = false, keys }: SourceFlags) {
	return {
		facts,
		pattern: pattern === undefined ? undefined : parsePattern(pattern),
		/** whether a path that the pattern does not match is a problem */
		isStrict: strict,
		/** the only keys that are taken; undefined for all */
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

/** A `--set` whose value comes from each file. */
export type FactSetting = Pick<SetCell, "key" | "type"> & { readonly text: FactText };

/**
 * Divides the values of `--set` into those that are the same for all files, and those with facts of a file. Of two for one
 * key, the later one counts.
 *
 * @throws CliError exit 2 for a fact that does not exist
 */
export function factSettings(set: readonly string[]) {
	const last = new Map<string, string | FactSetting>();
	const faulty: string[] = [];
	for (const text of set) {
		const equals = text.indexOf("=");
		const { key, type, meant } = splitType(text.slice(0, Math.max(equals, 0)));
		// `manifestOptions` refuses these in its own words. Braces of JSON are its own.
		const parsed =
			equals === -1 || key === "" || meant !== undefined || type === "json"
				? undefined
				: parseFactText(text.slice(equals + 1));
		if (equals === -1) faulty.push(text);
		else if (parsed === undefined) last.set(key, text);
		else if ("unknown" in parsed) {
			throw usageError(
				`--set: ${excerpt(parsed.unknown)} is no fact of a file; nothing was sent`,
				`Facts are ${FACT_NAMES.join(" ")}. --set KEY:json="{...}" takes braces as they are.`,
			);
		} else last.set(key, { key, type, text: parsed });
	}
	const values = [...last.values()];
	return {
		plain: [...faulty, ...values.filter((each) => typeof each === "string")],
		facts: values.filter((each) => typeof each !== "string"),
	};
}

/**
 * Sets the values of one file. An empty one is what an empty cell of a manifest is, by `--empty`.
 *
 * @returns what is wrong with them
 */
export async function setFacts(
	settings: readonly FactSetting[],
	facts: FileFacts,
	metadata: Map<string, JsonValue>,
	{ empty }: Pick<ManifestOptions, "empty">,
): Promise<Fault[]> {
	const faults: Fault[] = [];
	for (const { key, type, text } of settings) {
		try {
			const filled = await factTextOf(text, facts);
			if (filled === "" && empty === "skip") metadata.delete(key);
			else if (filled === "" && empty === "null") metadata.set(key, null);
			else {
				const result = cellValue(filled, type);
				if ("value" in result) metadata.set(key, result.value);
				else faults.push({ field: key, code: result.code, text: result.fault });
			}
		} catch (error) {
			faults.push({ field: key, code: "BAD_FILE", text: `the file can't be read: ${reason(error)}` });
		}
	}
	return faults;
}

/**
 * The metadata of files, from their sidecars and from facts of each. Every problem is printed.
 *
 * @throws CliError exit 2 when the schema cannot be used
 */
export async function fileMetadata(app: App, json: boolean, options: ManifestOptions) {
	const validator = await rowValidator(".", options);
	const names = memberNames(options);
	const problems = problemReporter(json, app);
	// Options that mend cells read no sidecar.
	const report = (file: string, fault: Fault, place?: Parameters<typeof problemOf>[2]): Promise<void> =>
		problems.report(problemOf(file, { ...fault, mend: undefined }, place));
	return {
		report,
		/**
		 * What a file is to have.
		 *
		 * @param sidecar its path; undefined where the file has none
		 */
		async of(
			facts: FileFacts,
			sidecar: string | undefined,
			settings: readonly FactSetting[] = [],
		): Promise<Metadata | undefined> {
			app.signal.throwIfAborted();
			const read = sidecar === undefined ? undefined : await readSidecar(sidecar, names);
			if (sidecar !== undefined && read === undefined) {
				await report(facts.path, noSidecar(sidecar));
				return undefined;
			}
			const { parsed = emptyRow() } = read ?? {};
			const file = sidecar ?? facts.path;
			const faults = validator.faults(parsed, true);
			faults.push(...(await setFacts(settings, facts, parsed.metadata, options)));
			validator.addSchemaFaults([parsed], () => excerpt(file));
			for (const fault of faults) await report(file, fault, read?.placeOf(fault));
			return faults.length === 0 ? parsed.metadata : undefined;
		},
		/** Names of `--map` and `--ignore` that no sidecar has, each with its flag. */
		unused: () => names.unused(),
		/** Prints how many problems were not shown. @returns the number of all */
		end(): number {
			problems.end();
			return problems.count;
		},
	};
}
