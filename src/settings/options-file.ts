import { dirname, resolve } from "node:path";
import { isMap, isScalar, LineCounter, parseDocument, visit } from "yaml";
import { type CliError, reason, usageError } from "../errors.ts";
import { readInput } from "../input-file.ts";
import { isOneLetterApart } from "../text/names.ts";
import { excerpt } from "../text/show.ts";

/** Bytes of a file of options at most. */
const MOST = 1024 * 1024;

type Kind = "text" | "path" | "switch" | "texts" | "words" | "pairs" | "settings";

/** The members, and what their values are. None is a server, a key or a command: such a file is shared. */
const MEMBERS: ReadonlyMap<string, Kind> = new Map<string, Kind>([
	["dataset", "text"],
	["mode", "text"],
	["map", "pairs"],
	["ignore", "texts"],
	["set", "settings"],
	["types", "pairs"],
	["schema", "path"],
	["empty", "text"],
	["names", "text"],
	["include", "texts"],
	["exclude", "texts"],
	["on_existing", "text"],
	["sheet", "text"],
	["encoding", "text"],
	["decimal_comma", "switch"],
	["date_format", "text"],
	["list_separator", "text"],
	["true", "words"],
	["false", "words"],
]);

/** Members of profiles that decide where documents and keys go. */
const OF_PROFILES = /^(?:base_?url|api_?key|.*_command|profile|ca_file|policy|limiter|ping|key|server|url|command)/i;

/**
 * The options of a file, by its members: the texts that would be typed after the flag of each.
 *
 * @throws CliError exit 2, with line and column
 */
export async function readOptionsFile(path: string): Promise<ReadonlyMap<string, readonly string[]>> {
	let text: string;
	try {
		text = (await readInput(path, MOST)).toString("utf8");
	} catch (error) {
		throw usageError(`--config: ${excerpt(path)} can't be read: ${reason(error)}; nothing was sent`, undefined, error);
	}
	return parseOptions(text, path);
}

/** The same from the text of the file. */
export function parseOptions(text: string, path: string): ReadonlyMap<string, readonly string[]> {
	const lines = new LineCounter();
	const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true });
	const wrong = (offset: number, why: string): CliError => {
		const { line, col } = lines.linePos(offset);
		return usageError(`${path}:${line}:${col}: ${why}; nothing was sent`);
	};
	const [broken] = [...document.errors, ...document.warnings];
	if (broken !== undefined) throw wrong(broken.pos[0], reason(broken));
	visit(document, {
		Alias: (_, { range }) => {
			throw wrong(range?.[0] ?? 0, "a value must be written out, not an alias");
		},
	});
	const { contents } = document;
	const whole: unknown = document.toJS();
	if (contents === null) return new Map();
	if (!isMap(contents)) throw wrong(contents.range?.[0] ?? 0, "the file must have members, as in dataset: handbooks");
	const options = new Map<string, readonly string[]>();
	for (const { key, value } of contents.items) {
		const place = isScalar(key) ? (key.range?.[0] ?? 0) : 0;
		// `true:` is a member as well, and YAML reads it as a boolean.
		const name = isScalar(key) ? String(key.value) : "";
		const kind = MEMBERS.get(name);
		if (kind === undefined) throw wrong(place, unknownMember(name));
		const texts = textsOf(whole, name, kind);
		if (value === null || texts === undefined) throw wrong(place, `${name} must be ${WORDS[kind]}`);
		options.set(name, kind === "path" ? texts.map((file) => pathOf(file, path)) : texts);
	}
	return options;
}

const WORDS: Readonly<Record<Kind, string>> = {
	text: "a text",
	path: "a path",
	switch: "true or false",
	texts: "a list of texts",
	words: "a list of words",
	pairs: "texts by their columns",
	settings: "values by their keys",
};

/** A path is relative to the file. */
function pathOf(file: string, path: string): string {
	return file === "none" ? file : resolve(dirname(path), file);
}

function unknownMember(name: string): string {
	if (OF_PROFILES.test(name)) return `${excerpt(name)}: a file of options never names a server, a key or a command`;
	const bare = name.toLowerCase().replaceAll(/[\s-]/g, "_");
	const meant = [...MEMBERS.keys()].find((member) => member === bare || isOneLetterApart(bare, member));
	const known = [...MEMBERS.keys()].join(", ");
	return `unknown member ${excerpt(name)}; ${meant === undefined ? `it may be ${known}` : `did you mean ${meant}?`}`;
}

function textsOf(whole: unknown, name: string, kind: Kind): readonly string[] | undefined {
	const value = memberOf(whole, name);
	switch (kind) {
		case "switch":
			return value === true ? ["true"] : value === false ? [] : undefined;
		case "text":
		case "path": {
			const text = scalarText(value);
			return text === undefined ? undefined : [text];
		}
		case "texts":
			return listOf(value);
		case "words": {
			const words = listOf(value);
			return words === undefined ? undefined : [words.join(",")];
		}
		case "pairs":
			return entriesOf(value, (column, key) => {
				const text = scalarText(key);
				return text === undefined ? undefined : `${column}=${text}`;
			});
		case "settings":
			return entriesOf(value, settingText);
	}
}

/** A value as `--set` takes it: numbers and booleans keep their type, lists are JSON. */
function settingText(key: string, value: unknown): string | undefined {
	if (typeof value === "string") return `${key}=${value}`;
	const type = typeof value;
	if (type === "number" || type === "boolean") {
		return key.endsWith(`:${type}`) ? `${key}=${String(value)}` : `${key}:${type}=${String(value)}`;
	}
	return listOf(value) === undefined ? undefined : `${key}:json=${JSON.stringify(value)}`;
}

function memberOf(value: unknown, name: string): unknown {
	return typeof value === "object" && value !== null
		? Object.entries(value).find(([key]) => key === name)?.[1]
		: undefined;
}

function scalarText(value: unknown): string | undefined {
	return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
}

function listOf(value: unknown): readonly string[] | undefined {
	const items: readonly unknown[] = Array.isArray(value) ? value : [value];
	const texts = items.flatMap((item) => scalarText(item) ?? []);
	return texts.length === items.length && texts.length > 0 ? texts : undefined;
}

function entriesOf(
	value: unknown,
	textOf: (key: string, value: unknown) => string | undefined,
): readonly string[] | undefined {
	if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
	const entries = Object.entries(value);
	const texts = entries.flatMap(([key, inner]) => textOf(key, inner) ?? []);
	return texts.length === entries.length ? texts : undefined;
}
