import { stat } from "node:fs/promises";
import type { App, Settings } from "../../app.ts";
import { Exit, usageError } from "../../errors.ts";
import { DELETE_TOKEN } from "../../json/list-change.ts";
import { checkManifest } from "../../manifest/check.ts";
import { parseSetOption } from "../../manifest/set-option.ts";
import { readSchema } from "../../manifest/rows/schema.ts";
import { DEFAULT_PURPOSE, PURPOSES, type Purpose } from "../../manifest/purposes.ts";
import type { CheckDependencies, CheckedManifest, ManifestOptions, Problem } from "../../manifest/types.ts";
import { changeOf } from "../../plan/change.ts";
import { excerpt, show } from "../../text/show.ts";
import { sizeText, numberText, rowsText } from "../../text/words.ts";
import type { Stop } from "../../run/types.ts";
import { quoted } from "../../flags/next-command.ts";
import { sheetOptions } from "../../flags/input-flags.ts";
import type { Given } from "../../flags/flags.ts";
import type { RecordedFlags } from "../../flags/payload-options.ts";
import type { Run } from "../open-run.ts";

/** The manifest options of the flags and of the profile. */
export async function manifestOptions(
	purpose: Purpose,
	flags: RecordedFlags,
	settings: Partial<Pick<Settings, "dataset">>,
): Promise<ManifestOptions> {
	const map = new Map(flags.map);
	if (map.size < (flags.map?.length ?? 0)) {
		throw usageError("--map names the same column twice");
	}
	const change = changeOf(flags.mode ?? "replace", flags.deleteToken);
	const deleteToken = change.mode === "merge" ? change.deleteToken : undefined;
	const isReplaced = PURPOSES[purpose].hasMode && change.mode === "replace";
	const mergeOnly = isReplaced
		? { token: flags.deleteToken ?? DELETE_TOKEN, lists: flags.deleteToken === undefined }
		: undefined;
	const set = (flags.set ?? []).map((text) => parseSetOption(text, { mergeOnly, deleteToken }));
	return {
		purpose,
		dataset: flags.dataset ?? settings.dataset?.value,
		map,
		ignore: new Set(flags.ignore),
		set: new Map(set.map(({ key, value }) => [key, value])),
		setCells: set,
		empty: flags.empty ?? "skip",
		schema: flags.schema === undefined ? undefined : await readSchema(flags.schema),
		schemaName: flags.schema,
		onDuplicate: flags.onDuplicate ?? "error",
		...sheetOptions(flags),
		deleteToken,
		mergeOnly,
		filesRoot: flags.filesRoot,
		shard: flags.shard,
	};
}

/** Checks a whole manifest and prints its problems: as lines on standard error, with `--json` as objects. */
export async function checkAndReport(
	{ flags, settings, app }: Pick<Run<Given<{ json: boolean }>>, "flags" | "settings" | "app">,
	path: string,
	options: ManifestOptions,
	more: Pick<CheckDependencies, "name" | "isAlreadyPresent" | "foldsNames"> = {},
): Promise<CheckedManifest> {
	const { stdin, signal, monitor } = app;
	const problems = problemReporter(flags.json === true, app);
	monitor.enter("checking", `${show(more.name ?? path)}${await sizeOf(path)}`);
	const checked = await checkManifest(path, options, {
		...more,
		stdin,
		signal,
		onProgress: (rows) => monitor.count({ done: rows, unit: "rows" }),
		onProblem: (problem) => void problems.report(problem),
		temporaryFolder: await app.temporaryFolder(settings),
	});
	problems.end();
	if (checked.problems === 0) for (const note of checked.notes) app.io.note(`warning: ${note}`);
	return checked;
}

/** The size of a file, as ` (45 MB)`. Nothing for what has none, such as a pipe: then only the rows are counted. */
async function sizeOf(path: string): Promise<string> {
	const found = path === "-" ? undefined : await stat(path).catch(() => undefined);
	return found?.isFile() === true ? ` (${sizeText(found.size)})` : "";
}

type Checked = Pick<CheckedManifest, "name" | "rows" | "problems" | "fatal"> & Given<{ otherRows: number }>;

/** The reason why nothing may be sent from a checked manifest; undefined if it may be sent. */
export function refusal(
	{ name, rows: ownRows, otherRows = 0, problems, fatal }: Checked,
	{ skipInvalid = false, allowEmpty = false }: Given<{ skipInvalid: boolean; allowEmpty: boolean }>,
	purpose: Purpose,
): Stop | undefined {
	// Every shard judges the whole manifest, so all of them refuse it, or none.
	const rows = ownRows + otherRows;
	if (problems > 0 && (!skipInvalid || fatal)) {
		// A table may be a document that is to be stored.
		const asDocument = fatal && purpose === "upload" ? `If ${name} is the document itself, add --as files. ` : "";
		return {
			exit: Exit.manifest,
			text: `${name} has ${numberText(problems)} ${problems === 1 ? "problem" : "problems"} in ${rowsText(rows)}; nothing was sent`,
			hint: `${asDocument}Fix the manifest, then check it with: ragtag manifest check ${quoted(name)}${purpose === DEFAULT_PURPOSE ? "" : ` --for ${purpose}`}`,
		};
	}
	if (rows === 0 && !allowEmpty) {
		return {
			exit: Exit.manifest,
			text: `${name} has no rows; nothing was sent`,
			hint:
				purpose === "map"
					? "Write a map with: ragtag values KEY -d DATASET --out"
					: "If that is right, add --allow-empty.",
		};
	}
	return undefined;
}

/** Problems shown to a person; `--json` has all of them. */
const SHOWN = 20;

/** Kinds of problems that are summed up after the shown ones: as many as a person looks at. */
const KINDS_SHOWN = 10;

/** Kinds that are counted: members of JSON rows can all have other names. */
const KINDS_COUNTED = 1_000;

/** Problems of one code, column and option that mends them. */
type Kind = { readonly first: Problem; last: number; count: number };

/** Sixty cells with a decimal comma are one thing to do. */
function mendedText({ first, count }: Kind): string {
	const { file, line, column, field, mend } = first;
	const cells = count === 1 ? "1 cell has" : `${numberText(count)} cells have`;
	const where = `${count === 1 ? "" : "the first "}at ${line}:${column}`;
	const reads = `${mend?.option} reads ${count === 1 ? "it" : "them"}`;
	return `${file}:${line}:${column}: ${excerpt(field ?? "")}: ${cells} ${mend?.what}, ${where}; ${reads}`;
}

function kindText({ first, last, count }: Kind): string {
	const times =
		count === 1 ? `once, line ${first.line}` : `${numberText(count)} times, lines ${first.line} to ${last}, first`;
	return `    ${times}: ${first.text}`;
}

/** Prints problems as they are found: the first as lines on standard error, with `json` all as objects. */
export function problemReporter(json: boolean, { io, runEnd }: Pick<App, "io" | "runEnd">) {
	let count = 0;
	let summed = 0;
	const kinds = new Map<string, Kind>();
	return {
		/** The number of all problems so far. */
		get count() {
			return count;
		},
		/** Resolves when the next may be reported, as a slow reader may block. */
		report: async (found: Problem): Promise<void> => {
			const { file, line, column, field, code, text, mend } = found;
			runEnd.problem(found);
			count += 1;
			const kind = `${code} ${field} ${mend?.option}`;
			const same = kinds.get(kind);
			if (same !== undefined) {
				same.last = line;
				same.count += 1;
				if (mend !== undefined) summed += 1;
			} else if (kinds.size < KINDS_COUNTED) kinds.set(kind, { first: found, last: line, count: 1 });
			if (count - summed <= SHOWN && (same === undefined || mend === undefined)) {
				io.err(`${file}:${line}:${column}: ${text}`);
			}
			if (!json) return;
			const place = { type: "problem", file, line, column, field, error_code: code, error: text };
			const problem = { ...place, sheet: found.sheet, option: mend?.option };
			await io.out(`${JSON.stringify(problem)}\n`);
		},
		/** Prints the number of problems that were not shown. */
		end(): void {
			for (const kind of kinds.values()) if (kind.first.mend !== undefined) io.err(mendedText(kind));
			if (count - summed <= SHOWN) return;
			const how = json ? "" : "; --json lists all of them";
			io.err(`... and ${numberText(count - summed - SHOWN)} more problems${how}`);
			const commonest = [...kinds.values()].toSorted((one, other) => other.count - one.count);
			for (const kind of commonest.slice(0, KINDS_SHOWN)) io.err(kindText(kind));
			const others = kinds.size - KINDS_SHOWN;
			if (others > 0) io.err(`    and ${numberText(others)} more kinds`);
		},
	};
}
