import { dirname, resolve } from "node:path";
import * as v from "valibot";
import { reason, usageError } from "../errors.ts";
import { readInput } from "../input-file.ts";
import { isJsonObject } from "../json/values.ts";
import { isOneLetterApart } from "../text/names.ts";
import { excerpt } from "../text/show.ts";
import { membersOf, readBy, readYaml } from "./yaml-file.ts";

/** Bytes of a file of options at most. */
const MOST = 1024 * 1024;

/** The texts that are typed after a flag. */
type Texts = readonly string[];

const SCALAR = v.union([v.string(), v.number()]);
const SCALARS = v.pipe(v.array(SCALAR), v.minLength(1));
const scalar = (value: unknown): string => String(v.parse(SCALAR, value));
/** A text alone is a list of one. */
const list = (value: unknown): Texts => v.parse(SCALARS, [value].flat()).map(String);

/** What a value must be, what is typed for it, and the members of that kind. None is a server, a key or a command: such a file is shared. */
const KINDS: readonly (readonly [wanted: string, read: (value: unknown) => Texts, members: string])[] = [
	[
		"a text",
		(value) => [scalar(value)],
		"dataset mode schema empty names on_existing sheet encoding date_format list_separator",
	],
	["a list of texts", list, "ignore include exclude"],
	["a list of words", (value) => [list(value).join(",")], "true false"],
	["texts by their columns", (value) => entries(value, (column, key) => `${column}=${scalar(key)}`), "map types"],
	["values by their keys", (value) => entries(value, setting), "set"],
	["true or false", (is) => (v.parse(v.boolean(), is) ? ["true"] : []), "decimal_comma"],
];

const MEMBERS = Object.fromEntries(
	KINDS.flatMap(([wanted, read, members]) =>
		members.split(" ").map((name) => [name, v.optional(readBy(read, wanted))] as const),
	),
);

const FILE = membersOf(MEMBERS, unknownMember);

/** Members of profiles that decide where documents and keys go. */
const OF_PROFILES = /^(?:base_?url|api_?key|.*_command|profile|ca_file|policy|limiter|ping|key|server|url|command)/i;

/**
 * The options of a file, by its members: the texts that would be typed after the flag of each.
 *
 * @throws CliError exit 2, with line and column
 */
export async function readOptionsFile(path: string): Promise<ReadonlyMap<string, Texts>> {
	let text: string;
	try {
		text = (await readInput(path, MOST)).toString("utf8");
	} catch (error) {
		throw usageError(`--config: ${excerpt(path)} can't be read: ${reason(error)}; nothing was sent`, undefined, error);
	}
	const { value } = readYaml(text, path, FILE, ([name = "the file of options"]) => String(name));
	const options = new Map<string, Texts>();
	for (const [name, texts = []] of Object.entries(value)) {
		// The path of a schema is relative to the file.
		const pathOf = (file: string): string => (file === "none" ? file : resolve(dirname(path), file));
		options.set(name, name === "schema" ? texts.map(pathOf) : texts);
	}
	return options;
}

function unknownMember(name: string): string {
	if (OF_PROFILES.test(name)) return `${excerpt(name)}: a file of options never names a server, a key or a command`;
	const bare = name.toLowerCase().replaceAll(/[\s-]/g, "_");
	const known = Object.keys(MEMBERS);
	const meant = known.find((member) => member === bare || isOneLetterApart(bare, member));
	return `unknown member ${excerpt(name)}; ${meant === undefined ? `it may be ${known.join(", ")}` : `did you mean ${meant}?`}`;
}

/** A value as `--set` takes it: numbers and booleans keep their type, lists are JSON. */
function setting(key: string, value: unknown): string {
	if (typeof value === "string") return `${key}=${value}`;
	const type = typeof value;
	if (type !== "number" && type !== "boolean") return `${key}:json=${JSON.stringify(v.parse(SCALARS, value))}`;
	return key.endsWith(`:${type}`) ? `${key}=${String(value)}` : `${key}:${type}=${String(value)}`;
}

function entries(value: unknown, textOf: (key: string, value: unknown) => string): Texts {
	if (!isJsonObject(value)) throw new TypeError("no map");
	return Object.entries(value).map(([key, inner]) => textOf(key, inner));
}
