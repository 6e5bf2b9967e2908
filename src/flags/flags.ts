import { extname } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { SettingFlags } from "../app.ts";
import { type BodyChoice, bodyForms } from "../body-forms.ts";
import type { RateSetting } from "../rates.ts";
import type { MaxErrors } from "../run/stop/limits.ts";
import { flavourNames } from "../run/service/detect-flavour.ts";
import type { VerifyMode } from "../run/types.ts";
import { addSheetOptions, type SheetFlags } from "./input-flags.ts";
import type { RecordedFlags } from "./payload-options.ts";
import {
	choice,
	collect,
	collectPair,
	parseConcurrency,
	parseCount,
	parseMaxErrors,
	parseNonEmpty,
	parseRate,
	parseTime,
} from "./values.ts";

/** Options that a line may leave out. */
export type Given<Options> = { readonly [Name in keyof Options]?: Options[Name] | undefined };

/** Flags of every command, as they come from the program's own options. */
export type GlobalFlags = SettingFlags & Given<{ quiet: boolean; debug: boolean }>;

/** Flags of commands that read from the service. `timeout` is in milliseconds, as all times. */
export type ServiceFlags = GlobalFlags & Given<{ rate: RateSetting; timeout: number; flavour: string }>;

/** Flags that say how a manifest is read. */
export type ManifestFlags = GlobalFlags &
	SheetFlags &
	Pick<RecordedFlags, "dataset" | "map" | "ignore" | "schema"> &
	Given<{ json: boolean }> & {
		readonly empty: NonNullable<RecordedFlags["empty"]>;
		readonly onDuplicate: NonNullable<RecordedFlags["onDuplicate"]>;
	};

/** Flags of commands that work through rows, whether or not they write. */
export type RowFlags = ServiceFlags &
	Given<{ maxErrors: MaxErrors; maxDuration: number; failed: string; json: boolean }> & {
		readonly concurrency: number | "auto";
	};

/** Flags of commands that read back written values. */
export type VerifyFlags = ServiceFlags &
	Pick<RowFlags, "concurrency" | "maxDuration" | "json"> &
	Given<{ maxOutage: number }>;

/** Flags of commands that write rows. */
export type RunFlags = RowFlags &
	Pick<RecordedFlags, "dataset" | "set" | "skipInvalid" | "allowTypeChange"> &
	// The engine has the defaults of the times.
	Given<{
		allowEmpty: boolean;
		maxWait: number;
		maxOutage: number;
		body: BodyChoice;
		resume: boolean;
		force: boolean;
	}> &
	Given<{
		verify: "none" | VerifyMode;
		/** false: the previous values of documents are not saved, and the run can't be undone */
		undo: boolean;
		/** the recorded run to resume, for `runs resume` and `runs retry`, and whether its failed rows are sent again */
		run: string;
		reopen: boolean;
		/** answers the question of a removal or an undo */
		yes: boolean;
	}> & { readonly chunk: number; readonly attempts: number };

/** Rows: memory holds a whole chunk. */
const LARGEST_CHUNK = 10_000;

/** Options of every command that says what it does. */
export function addVerbosityOptions(command: Command): Command {
	return addMessageOptions(
		command.addOption(
			choice("--progress <form>", ["auto", "bar", "plain", "json", "none"], "progress on standard error"),
		),
	);
}

/** The same for a command that serves until it is stopped: it makes no progress. */
export function addMessageOptions(command: Command): Command {
	return command
		.option("-q, --quiet", "prints only errors on standard error")
		.option("--debug", "prints what is sent, and why, on standard error")
		.option("--log-file <file>", "appends messages and progress to a file, also with --quiet", parseNonEmpty);
}

export function addServiceOptions(command: Command): Command {
	return addVerbosityOptions(command)
		.option(
			"--rate <n>",
			"most requests per second, auto, unlimited, or a timetable: '08:00=20 20:00=100' (default: 100)",
			parseRate,
		)
		.option(
			"--limiter <address>",
			"Redis over which all runs of this service and key share one --rate: redis://HOST",
			parseNonEmpty,
		)
		.option("--timeout <time>", "longest time for one request: 500ms, 60s, 5m (default: 60s)", parseTime)
		.addOption(
			new Option("--flavour <name>", "kind of server; detected if not given").choices(["auto", ...flavourNames]),
		);
}

export function addManifestOptions(command: Command): Command {
	return addSheetOptions(command)
		.option("-d, --dataset <id or name>", "dataset of rows that have no dataset_id", parseNonEmpty)
		.option("--map <column=key>", "renames a column (repeatable)", collectPair)
		.option("--ignore <column>", "drops a column (repeatable)", collect)
		.addOption(choice("--empty <meaning>", ["skip", "null", "text"], "what an empty CSV cell means"))
		.option("--schema <file>", "JSON Schema for each row's metadata; none turns off the built-in checks", parseNonEmpty)
		.addOption(
			choice(
				"--on-duplicate <what>",
				["error", "first", "last"],
				"what to do with a document that has two rows with different values",
			),
		);
}

/** Options of commands that read many documents. */
export function addReadOptions(command: Command): Command {
	return addServiceOptions(command)
		.option("--concurrency <n>", "most requests in flight", parseConcurrency, "auto")
		.option("--max-duration <time>", "stops the run after that time", parseTime)
		.option("--json", "results as JSON lines");
}

/** Options of commands that work through rows, whether or not they write. */
export function addRowOptions(command: Command, failed: string): Command {
	return addReadOptions(command)
		.option("--max-errors <n or n%>", "stops when this many rows have failed", parseMaxErrors)
		.option("--failed <file>", failed, parseNonEmpty);
}

export function addOutageOption(command: Command, byDefault = "15m"): Command {
	return command.option("--max-outage <time>", `longest outage to wait out (default: ${byDefault})`, parseTime);
}

/** Ends of names of reports. Each stands for a form. */
const REPORT_ENDS = [".html", ".md", ".json"];

/** The file of `--report`. @throws InvalidArgumentError where its name does not say the form, or another form was given */
function parseReportFile(path: string, previous: string | undefined): string {
	if (previous !== undefined) throw new InvalidArgumentError(`It was given before, with ${previous}; give it once.`);
	if (REPORT_ENDS.includes(extname(path).toLowerCase())) return parseNonEmpty(path);
	throw new InvalidArgumentError("Its name must end in .html, .md or .json.");
}

/** The report of a run, which `runs report` writes too. */
export function addReportOption(command: Command): Command {
	return command.option("--report <file>", "the run as a page: .html, or .md or .json by the name", parseReportFile);
}

/** Options of commands that run rows: files for other programs. `src/run-end.ts` has their values. */
export function addOutputOptions(command: Command): Command {
	return addReportOption(addCheckOutputOptions(command))
		.option("--metrics-file <file>", "the run as metrics, for the folder of a Prometheus node exporter", parseNonEmpty)
		.option("--ping <url>", "a monitor such as healthchecks.io; it gets a request at the start and at the end");
}

/** The same of commands that check a manifest, and send nothing of its rows. */
export function addCheckOutputOptions(command: Command): Command {
	return command
		.option("--junit <file>", "the run as a JUnit test report, one case a failed or invalid row", parseNonEmpty)
		.addOption(
			choice(
				"--annotations <form>",
				["auto", "github", "gitlab", "none"],
				"problems and failed rows at the lines of the manifest; gitlab writes gl-code-quality-report.json",
			),
		);
}

/** @param force what `--force` overrides beside a lock, as the beginning of its help */
export function addRunOptions(command: Command, force = ""): Command {
	addRowOptions(
		command,
		"file for the rows that failed, to correct and use as a manifest (default: in the run's folder)",
	);
	addOutageOption(command).addOption(
		choice(
			"--verify <what>",
			["none", "sample", "all"],
			"reads back what was written, all of it or a sample of 300 rows; exit 10 if anything is lost or altered",
		),
	);
	return addOutputOptions(command)
		.option("--chunk <n>", "rows read and planned at a time; chunks overlap", parseCount(1, LARGEST_CHUNK), 100)
		.option("--attempts <n>", "attempts for one row, the first included", parseCount(1, 1000), 6)
		.option("--max-wait <time>", "longest wait that the service may ask for (default: 5m)", parseTime)
		.option("--force", `${force}takes the lock of a run on another machine`);
}

/** Whether a run reads back what it writes. */
export function verifies({ verify = "none" }: Pick<RunFlags, "verify">): boolean {
	return verify !== "none";
}

export function addSetOption(command: Command): Command {
	return command.option(
		"--set <key=value>",
		"adds a value to every row; KEY:number=5 gives it a type (repeatable)",
		collect,
	);
}

export function addBodyOption(command: Command): Command {
	return command.addOption(
		new Option(
			"--body <form>",
			"form of an update's body; auto takes the form that the flavour accepts (default: auto)",
		).choices([...bodyForms, "auto"]),
	);
}

/** Options of row commands that read a manifest and write metadata. */
export function addWriteOptions(command: Command): Command {
	return addBodyOption(addSetOption(command));
}

/** @param sends the verb for the valid rows in the help of `--skip-invalid` */
export function addValidityOptions(command: Command, sends = "sends"): Command {
	return command
		.option("--skip-invalid", `${sends} the valid rows of a manifest that has invalid ones, and exits 1`)
		.option("--allow-empty", "accepts a manifest without rows");
}

export function addResumeOption(command: Command, manifest = "manifest"): Command {
	return command.option(
		"--resume",
		`resumes the newest run of this ${manifest} if it is unfinished and has the same content, else begins a new run`,
	);
}

export function addToleranceOptions(command: Command): Command {
	return addResumeOption(addValidityOptions(command));
}
