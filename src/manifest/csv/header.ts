import { PURPOSES, type Role, isFailureColumn, isReserved, isRole, meantReserved } from "../purposes.ts";
import type { ManifestOptions } from "../types.ts";
import { splitType, type CellType } from "../rows/typed.ts";
import { datasetName, headerHint, mapping } from "../mistaken.ts";
import { excerpt } from "../../text/show.ts";
import { ReadingStop, type Fault } from "../fault.ts";

/** The target of a column's cells. */
export type ColumnUse =
	| { readonly kind: "role"; readonly role: Role }
	/** the document's name, which messages show and nothing else uses */
	| { readonly kind: "label" }
	/** `isTyped`: the header names the type */
	| { readonly kind: "key"; readonly key: string; readonly type: CellType; readonly isTyped: boolean }
	| { readonly kind: "drop" };

export type Column = {
	/** as it stands in the header */
	readonly original: string;
	/** its name in messages: the key or reserved name it became */
	readonly field: string;
	readonly use: ColumnUse;
};

export type Header = {
	readonly columns: readonly Column[];
	/** the cell of each role and key */
	readonly cellOf: ReadonlyMap<string, number>;
	/** `cell` is the index of the column that is at fault */
	readonly faults: readonly (Fault & { readonly cell: number })[];
};

type HeaderOptions = Pick<ManifestOptions, "purpose" | "dataset" | "map" | "ignore" | "set" | "types">;

/** The header of a table before it is read. */
export const NO_HEADER: Header = { columns: [], cellOf: new Map(), faults: [] };

/** The roles of columns in the failed rows of an upload, whose files are named anew; undefined for any other purpose. */
export function placedRoles(
	{ columns }: Header,
	{ purpose }: Pick<ManifestOptions, "purpose">,
): ((column: number) => Role | undefined) | undefined {
	if (!PURPOSES[purpose].subject.hasFile) return undefined;
	return (at) => {
		const use = columns[at]?.use;
		return use?.kind === "role" ? use.role : undefined;
	};
}

/** Decides what each column is for. All faults of a header are found at once. */
export function readHeader(names: readonly string[], options: HeaderOptions): Header {
	const faults: (Fault & { cell: number })[] = [];
	const seen = new Map<string, number>();
	const used = new Set<string>();
	const columns = names.map((original, cell): Column => {
		const fault = (code: string, text: string, field: string | null = original): void => {
			faults.push({ field, code, text, cell });
		};
		if (matches(options.ignore, original, used)) return { original, field: original, use: { kind: "drop" } };
		const column = columnOf(original, mapped(original, options.map, used), options, fault);
		if (column.use.kind === "drop") return column;
		// A key may be called as a column that is reserved: `name` and `name:text` are two things.
		const target = `${column.use.kind} ${column.field}`;
		const earlier = seen.get(target);
		if (earlier !== undefined) fault("DUPLICATE_COLUMN", `stands in the header twice, as column ${earlier + 1} too`);
		seen.set(target, cell);
		return column;
	});
	unusedOptions(names, options, used, faults);
	missingColumns(columns, options, faults);
	const cellOf = new Map<string, number>();
	for (const [cell, { field, use }] of columns.entries()) {
		// `name` and `name:text` may stand beside each other; a reserved name means the reserved column.
		if (use.kind === "role" || (use.kind === "key" && !cellOf.has(field))) cellOf.set(field, cell);
	}
	return { columns, cellOf, faults };
}

function columnOf(
	original: string,
	name: string,
	options: HeaderOptions,
	fault: (code: string, text: string, field?: string | null) => void,
): Column {
	const drop: Column = { original, field: name, use: { kind: "drop" } };
	if (name === "") {
		fault("EMPTY_COLUMN", "a column without a name; give it one, or remove the delimiter that makes it", null);
		return drop;
	}
	if (isFailureColumn(name)) return drop;
	if (name === "meta_fields") {
		fault("META_FIELDS", "belongs to JSON manifests; in CSV each metadata key has a column of its own", name);
		return drop;
	}
	if (isRole(name)) {
		const isUsed = PURPOSES[options.purpose].subject.roles[name] !== undefined;
		return {
			original,
			field: name,
			use: isUsed ? { kind: "role", role: name } : { kind: name === "name" ? "label" : "drop" },
		};
	}
	const { key, type, explicit, meant } = splitType(name);
	const { columns } = PURPOSES[options.purpose].subject;
	if (columns?.others.includes(key) === true) return drop;
	if (columns?.read.includes(key) === false) {
		fault("UNKNOWN_COLUMN", `is no column of a map; it has ${[...columns.read, ...columns.others].join(", ")}`);
		return drop;
	}
	const declared = explicit ? undefined : options.types?.get(original);
	const reserved = explicit ? undefined : meantReserved(name);
	if (reserved !== undefined) {
		fault("UNKNOWN_COLUMN", `did you mean ${reserved}? For a key of this name write ${excerpt(name)}:text`);
	} else if (meant !== undefined) {
		const stem = excerpt(name.slice(0, name.lastIndexOf(":")));
		fault(
			"UNKNOWN_TYPE",
			`unknown type; did you mean ${stem}:${meant}? For a key of this name write ${excerpt(name)}:text`,
		);
	}
	if (PURPOSES[options.purpose].metadata === "ignored") return { ...drop, field: key };
	return {
		original,
		field: key,
		use: { kind: "key", key, type: declared ?? type, isTyped: explicit || declared !== undefined },
	};
}

/** A name after `--map`; the type of a column stays when the map names only its key. */
function mapped(original: string, map: ReadonlyMap<string, string>, used: Set<string>): string {
	const whole = map.get(original);
	if (whole !== undefined) {
		used.add(original);
		return whole;
	}
	const { key, type, explicit } = splitType(original);
	const target = explicit ? map.get(key) : undefined;
	if (target === undefined) return original;
	used.add(key);
	return isReserved(target) ? target : `${target}:${type}`;
}

function matches(names: ReadonlySet<string>, original: string, used: Set<string>): boolean {
	const name = [original, splitType(original).key].find((candidate) => names.has(candidate));
	if (name !== undefined) used.add(name);
	return name !== undefined;
}

function unusedOptions(
	names: readonly string[],
	options: HeaderOptions,
	used: ReadonlySet<string>,
	faults: (Fault & { cell: number })[],
): void {
	for (const [flag, fields] of [
		["--map", options.map.keys()],
		["--ignore", options.ignore.keys()],
		["types of --config", Array.from(options.types?.keys() ?? []).filter((column) => !names.includes(column))],
	] as const) {
		for (const field of fields) {
			if (used.has(field)) continue;
			const target = flag === "--map" ? options.map.get(field) : undefined;
			// COLUMN and KEY are easily swapped.
			const isSwapped = target !== undefined && names.includes(target);
			const hint = isSwapped ? `; COLUMN comes first: --map ${mapping(target, field)}` : "";
			const text = `${flag} names a column that the header does not have${hint}`;
			faults.push({ field, code: "NO_SUCH_COLUMN", text, cell: 0 });
		}
	}
}

const NO_DATASET_COLUMN =
	"the header has no such column, and no dataset is given: add -d DATASET (ragtag datasets list shows them)";

function missingColumns(
	columns: readonly Column[],
	options: HeaderOptions,
	faults: (Fault & { cell: number })[],
): void {
	const { required, roles } = PURPOSES[options.purpose].subject;
	const has = (name: string): boolean =>
		columns.some(({ field, use }) => (use.kind === "role" ? use.role : required === "old" ? field : "") === name);
	const missing = (field: string, text: string): void => {
		// A misspelt column was reported already: a second problem for the same slip is of no use.
		if (columns.some(({ original, field: as }) => meantReserved(original) === field || meantReserved(as) === field))
			return;
		faults.push({ field, code: "MISSING_COLUMN", text, cell: 0 });
	};
	const another = required === "name" ? "; --map COLUMN=name takes the names from another one" : "";
	if (!has(required)) {
		const hint = headerHint(
			columns.map(({ original }) => original),
			required,
		);
		missing(required, `the header has no such column${hint === "" ? another : hint}`);
	}
	if (roles.dataset_id !== undefined && !has("dataset_id") && options.dataset === undefined) {
		const other = datasetName(columns.map(({ original }) => original));
		const hint =
			other === undefined ? "" : `; to take it from the column ${other}: --map ${mapping(other, "dataset_id")}`;
		missing("dataset_id", `${NO_DATASET_COLUMN}${hint}`);
	}
	// Such a manifest, for example the ids that an upload printed, would clear every document it names.
	const holdsKey = options.set.size > 0 || columns.some(({ use }) => use.kind === "key");
	// With another fault the column that is missing may be the one that is misspelt.
	if (PURPOSES[options.purpose].metadata === "required" && !holdsKey && faults.length === 0) {
		const text = "no column holds metadata, so there is nothing to write; add a column for each key, or use --set";
		faults.push({ field: null, code: "NO_METADATA", text, cell: 0 });
	}
}

const DELIMITERS = [",", ";", "\t"] as const;

/**
 * The delimiter that a first line such as `sep=;` names, which is written for Excel; undefined where it is another line.
 *
 * @throws Stop where it names one that is not read
 */
export function namedDelimiter(text: string, line: number): string | undefined {
	const named = /^"?sep=(.?)"?\r?$/i.exec(text)?.[1];
	if (named === undefined) return undefined;
	const delimiter = DELIMITERS.find((each) => each === named);
	if (delimiter !== undefined) return delimiter;
	const what = named === "" ? "no character divides" : `${excerpt(named)} divides`;
	throw new ReadingStop("DELIMITER", `the line sep= says that ${what} the cells; use a comma, a semicolon or a tab`, {
		line,
		column: 1,
	});
}

/** The delimiter that a header is divided by: the most frequent one outside quotes, the comma when there is none. */
export function delimiterOf(header: string): string {
	const bare = header.replaceAll(/"[^"]*"?/g, "");
	const cells = (delimiter: string): number => bare.split(delimiter).length;
	return DELIMITERS.reduce((best, each) => (cells(each) > cells(best) ? each : best));
}
