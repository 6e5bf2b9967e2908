import { dirname, relative, resolve, sep } from "node:path";
import type { App } from "../../app.ts";
import { CliError, Exit, type ExitCode, usageError } from "../../errors.ts";
import type { FileFacts } from "../../files/facts.ts";
import { storedName } from "../../files/stored-names.ts";
import { declare, toggle, valued, type ValuesOf } from "../../flags/declare.ts";
import { VERBOSITY } from "../../flags/flags.ts";
import { type Origin, SOURCES, sourcesOf, valuesOf } from "../../workflows/rows/file-values.ts";
import { parseOut } from "../../flags/values.ts";
import { ColumnPlan } from "../../manifest/write.ts";
import { show } from "../../text/show.ts";
import { numberText, rowsText } from "../../text/words.ts";
import { problemReporter } from "../../workflows/check/check-manifest.ts";
import { writeNewFile } from "../../workflows/outputs/out-file.ts";
import { walked } from "../../workflows/rows/find-files.ts";
import type { JsonValue } from "../../json/values.ts";
import { FILES, sidecarsOption } from "../../flags/input-flags.ts";

const OPTIONS = {
	explain: toggle("--explain", "prints where each value comes from; the manifest then needs --out"),
	...FILES,
	sidecars: sidecarsOption("lists"),
	...SOURCES,
	...VERBOSITY,
	out: valued("-o, --out <file>", "a new file instead of standard output", parseOut),
	json: toggle("--json", "problems as JSON lines"),
};

type FromOptions = ValuesOf<typeof OPTIONS> & { readonly paths: readonly string[] };

/** Unmatched paths that are named. */
const NAMED = 3;

/** A row of the manifest. */
type Made = {
	readonly facts: FileFacts;
	readonly values: ReadonlyMap<string, { readonly value: JsonValue; readonly origin: Origin }>;
};

export const fromCommand = declare({
	summary: "make a manifest from files and what they say of themselves",
	description:
		"Prints a CSV manifest of files for docs upload: file, name, and a column for each key. Keys come from facts of the file, its path, the front matter of Markdown, and its sidecar; a later one wins. Needs no service.",
	examples:
		"ragtag manifest from papers --pattern '{category}/{year:number}_{title}.pdf' --out files.csv\nragtag docs upload files.csv -d DATASET",
	arguments: { "[paths...]": "files and folders" },
	options: OPTIONS,
	run: from,
});

async function from(options: FromOptions, app: App): Promise<ExitCode> {
	const { io } = app;
	const { paths, explain = false, out } = options;
	if (paths.length === 0 && options.filesFrom === undefined) {
		throw usageError("manifest from needs a file or a folder", "Name one, or --files-from FILE.");
	}
	if (explain && out === undefined && options.json === true) {
		throw usageError("--explain and --json need --out");
	}
	const made = await readFiles(options, app);
	const root = rootOf(made, out);
	if (explain) for (const row of made) await io.out(explained(row));
	if (out === undefined && explain) return Exit.ok;
	await writeNewFile(out, app, async (print) => {
		for (const text of manifestOf(made, root, options)) await print(text);
	});
	if (out === undefined) return Exit.ok;
	const elsewhere = root === dirname(resolve(out)) ? "" : ` --files-root ${show(root)}`;
	io.note(`${out}: ${rowsText(made.length)}. Upload them with: ragtag docs upload ${out} -d DATASET${elsewhere}`);
	return Exit.ok;
}

/** @throws CliError exit 2 where a path can't be read, 3 where a file has a problem, or there is none */
async function readFiles(options: FromOptions, app: App): Promise<readonly Made[]> {
	const { io } = app;
	const { files, problems } = await walked({ flags: options, app }, options.paths);
	const problemsOf = problemReporter(options.json === true, app);
	const exit = problems.length > 0 ? Exit.usage : Exit.manifest;
	for (const { path, text } of problems) {
		await problemsOf.report({ file: path, line: 1, column: 1, field: null, code: "BAD_FILE", text });
	}
	const sources = sourcesOf(options);
	const made: Made[] = [];
	const unmatched: string[] = [];
	for (const facts of files) {
		app.signal.throwIfAborted();
		const { values, isUnmatched, problems: own } = await valuesOf(facts, sources);
		for (const problem of own) await problemsOf.report(problem);
		if (isUnmatched) unmatched.push(facts.relative);
		made.push({ facts, values });
	}
	problemsOf.end();
	const wrong = problemsOf.count;
	if (wrong > 0) {
		throw new CliError(`${numberText(wrong)} ${wrong === 1 ? "problem" : "problems"}; no manifest was written`, {
			exit,
			hint: "Correct the files, or leave them out with --exclude.",
		});
	}
	if (made.length === 0) {
		throw new CliError("there are no files; no manifest was written", {
			exit: Exit.manifest,
			hint: "Hidden files are left out, and what --include and --exclude leave out.",
		});
	}
	if (unmatched.length > 0) {
		const named = unmatched
			.slice(0, NAMED)
			.map((path) => show(path))
			.join(", ");
		const more = unmatched.length > NAMED ? ", ..." : "";
		const which = unmatched.length === 1 ? "1 file does" : `${numberText(unmatched.length)} files do`;
		io.note(
			`${which} not match --pattern, and ${unmatched.length === 1 ? "has" : "have"} no keys of it: ${named}${more}`,
		);
	}
	return made;
}

/** The lines of the manifest, its head first. */
function* manifestOf(made: readonly Made[], root: string, { names = "path" }: FromOptions): Generator<string> {
	const plan = new ColumnPlan(["file", "name"]);
	const rows = made.map(({ facts, values }) => {
		const metadata = new Map(Array.from(values, ([key, { value }]) => [key, value] as const));
		plan.include(metadata);
		const file = relative(root, facts.path).split(sep).join("/");
		return { cells: [file, storedName(facts.relative, names)], metadata };
	});
	yield plan.head();
	for (const { cells, metadata } of rows) yield plan.row(cells, metadata);
}

/** The folder that the paths of a manifest count from: its own, or one above all files where one lies elsewhere. */
function rootOf(made: readonly Made[], out: string | undefined): string {
	const paths = made.map(({ facts }) => facts.path);
	const own = out === undefined ? resolve(".") : dirname(resolve(out));
	const isBelow = (folder: string, path: string): boolean =>
		path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
	const [first = own] = paths;
	let root = paths.every((path) => isBelow(own, path)) ? own : dirname(first);
	while (!paths.every((path) => isBelow(root, path)) && root !== dirname(root)) root = dirname(root);
	return root;
}

function explained({ facts, values }: Made): string {
	const of = (value: JsonValue): string => show(typeof value === "string" ? value : JSON.stringify(value));
	return Array.from(values, ([key, { value, origin }]) => {
		return `${show(facts.relative)}\t${show(key)}\t${of(value)}\t${origin}\n`;
	}).join("");
}
