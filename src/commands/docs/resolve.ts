import { documentsText, numberText, rowsText } from "../../text/words.ts";
import type { App, Session } from "../../app.ts";
import { CliError, Exit, type ExitCode, usageError } from "../../errors.ts";
import { checkAndReport, manifestOptions, problemReporter, refusal } from "../../workflows/check/check-manifest.ts";
import { ColumnPlan } from "../../manifest/write.ts";
import { datasetId } from "../../workflows/dataset.ts";
import { choice, declare, toggle, valued, type ValuesOf } from "../../flags/declare.ts";
import { MANIFEST, SERVICE, type ServiceFlags, SET } from "../../flags/flags.ts";
import type { Print } from "../../workflows/lists/documents-csv.ts";
import { writeNewFile } from "../../workflows/outputs/out-file.ts";
import { quoted } from "../../flags/next-command.ts";
import { connectRun } from "../../workflows/open-run.ts";
import { parseOut } from "../../flags/values.ts";
import { foundDocuments, lookUp, namesOfDatasets, printFound } from "../../workflows/resolve/look-up.ts";
import { type NamedRows, sidecarRows } from "../../workflows/resolve/sidecar-rows.ts";

const OPTIONS = {
	...SERVICE,
	...MANIFEST,
	...SET,
	match: choice(
		"--match <how>",
		["exact", "glob", "sidecar"],
		"exact: a name is the whole name; glob: it may hold * ? [a-z] and stands for every document that it matches; sidecar: the arguments are files, each with its metadata in FILE.meta.json beside it",
	),
	skipInvalid: toggle("--skip-invalid", "prints the rows that can be resolved, and exits 1 if others can't"),
	allowEmpty: toggle("--allow-empty", "accepts a manifest without rows"),
	out: valued("-o, --out <file>", "a new file instead of standard output", parseOut),
	json: toggle("--json", "rows or problems as JSON lines; docs tag reads the rows"),
};

type ResolveOptions = ServiceFlags &
	ValuesOf<typeof OPTIONS> & {
		/** one manifest; with `--match sidecar` files and folders */
		readonly manifest: readonly string[];
	};

export const resolveCommand = declare({
	summary: "find the document ids of rows that have only a name",
	description:
		"Finds the document_id of rows that have only a name, and prints a manifest with ids for docs tag or docs rm.\n" +
		"It changes nothing. It reports each name that is unknown or ambiguous, and then prints no manifest.",
	examples:
		"ragtag docs resolve names.csv -d DATASET --out tags.csv\nragtag docs tag tags.csv\n" +
		"ragtag docs resolve names.csv -d DATASET --map filename=name | ragtag docs tag -\n" +
		"ragtag docs resolve patterns.csv -d DATASET --match glob      a row may say 2024-*.pdf\n" +
		"ragtag docs resolve papers/ -d DATASET --match sidecar        papers/a.pdf has papers/a.pdf.meta.json",
	arguments: {
		"<manifest...>":
			"CSV, JSON array, JSON lines or .xlsx; - reads standard input; with --match sidecar files or folders",
	},
	options: OPTIONS,
	run: resolve,
});

/** Settings are read first, then all local files: exits 2 and 3 mean that no request was made. */
async function resolve(given: ResolveOptions, app: App): Promise<ExitCode> {
	const [manifest = "", ...others] = given.manifest;
	if (given.match !== "sidecar" && others.length > 0) {
		throw usageError(
			"docs resolve takes one manifest; nothing was sent",
			"Files that have their metadata beside them are named with --match sidecar.",
		);
	}
	await using run = await connectRun("docs resolve", given, app);
	const { session, settings } = run;
	const dataset = await datasetId({ flags: given, settings, session, app });
	const options = dataset === undefined ? given : { ...given, dataset };
	const reading = await manifestOptions("resolve", options, settings);
	const source =
		options.match === "sidecar"
			? await sidecarRows(options.manifest, reading, { json: options.json === true, app })
			: await checkAndReport({ flags: options, settings, app }, manifest, reading);
	try {
		const stop = refusal(source, options, "resolve");
		if (stop !== undefined) {
			const again = "Fix them, then run the same command again.";
			throw new CliError(stop.text, {
				exit: stop.exit,
				hint: options.match === "sidecar" ? again : (stop.hint ?? again),
			});
		}
		return await printResolved(source, options, session, app);
	} finally {
		await source.close();
	}
}

/** Finds all documents, then prints them. An incomplete manifest is printed only with `--skip-invalid`. */
async function printResolved(
	source: NamedRows,
	options: ResolveOptions,
	{ api, request }: Session,
	app: App,
): Promise<ExitCode> {
	const { io, signal } = app;
	const { out, json = false, skipInvalid = false, onDuplicate } = options;
	const match = options.match === "glob" ? "glob" : "exact";
	const work = { source, namesOf: namesOfDatasets(api, request), match, onDuplicate, signal } as const;
	const write = async (print: Print): Promise<number> => {
		// A column's type depends on every value.
		const plan = json ? undefined : new ColumnPlan(["document_id", "dataset_id", "name"]);
		const problems = problemReporter(json, app);
		await lookUp(work, problems.report, (metadata) => plan?.include(metadata));
		problems.end();
		const lost = source.invalid + problems.count;
		if (problems.count > 0 && !skipInvalid) throw unresolved(lost, source, false);
		const count = await printFound(foundDocuments(work), plan, print, () => out === undefined && io.stdoutClosed);
		const next = out === undefined ? "" : `. Review it, then: ragtag docs tag ${quoted(out)}`;
		io.note(`${source.name}: ${rowsText(source.rows)}, ${documentsText(count)}${next}`);
		return lost;
	};
	const lost = await writeNewFile(out, app, write);
	if (lost > 0) throw unresolved(lost, source, true);
	return Exit.ok;
}

function unresolved(lost: number, { name, rows }: NamedRows, arePrinted: boolean): CliError {
	return new CliError(
		`${numberText(lost)} of ${rowsText(rows)} of ${name} could not be resolved; ${arePrinted ? "the others were" : "nothing was"} printed`,
		{
			exit: Exit.failedRows,
			hint: arePrinted
				? "Fix those rows, and resolve them again."
				: "Fix the names, or print the rows that can be resolved with --skip-invalid.",
		},
	);
}
