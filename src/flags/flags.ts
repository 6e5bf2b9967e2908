import { extname } from "node:path";
import { InvalidArgumentError } from "commander";
import type { SettingFlags } from "../app.ts";
import { bodyForms, type BodyChoice } from "../body-forms.ts";
import { flavourNames } from "../run/service/detect-flavour.ts";
import { SHEET } from "./input-flags.ts";
import { choice, defaulted, type Flag, oneOf, toggle, valued, type ValuesOf } from "./declare.ts";
import type { RecordedFlags } from "./payload-options.ts";
import {
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

/** Rows: memory holds a whole chunk. */
const LARGEST_CHUNK = 10_000;

export const JSON_LINES = { json: toggle("--json", "results as JSON lines") };

/** Options of a command that serves until it is stopped: it makes no progress. */
export const MESSAGES = {
	quiet: toggle("-q, --quiet", "prints only errors on standard error"),
	debug: toggle("--debug", "prints what is sent, and why, on standard error"),
	logFile: valued("--log-file <file>", "appends messages and progress to a file, also with --quiet", parseNonEmpty),
};

/** Options of every other command that says what it does. */
export const VERBOSITY = {
	progress: choice("--progress <form>", ["auto", "bar", "plain", "json", "none"], "progress on standard error"),
	...MESSAGES,
};

/** Flags of every command, as they come from the program's own options. */
export type GlobalFlags = SettingFlags & ValuesOf<Pick<typeof MESSAGES, "quiet" | "debug">>;

export const SERVICE = {
	...VERBOSITY,
	rate: valued(
		"--rate <n>",
		"most requests per second, auto, unlimited, or a timetable: '08:00=20 20:00=100' (default: 100)",
		parseRate,
	),
	limiter: valued(
		"--limiter <address>",
		"Redis over which all runs of this service and key share one --rate: redis://HOST",
		parseNonEmpty,
	),
	timeout: valued("--timeout <time>", "longest time for one request: 500ms, 60s, 5m (default: 60s)", parseTime),
	flavour: oneOf("--flavour <name>", ["auto", ...flavourNames], "kind of server; detected if not given"),
};

/** Flags of commands that read from the service. `timeout` is in milliseconds, as all times. */
export type ServiceFlags = GlobalFlags & ValuesOf<Pick<typeof SERVICE, "rate" | "timeout" | "flavour">>;

/** The dataset of a command that takes one alone. */
export function datasetOption(description = "the dataset"): Flag<string> {
	return valued("-d, --dataset <id or name>", description, parseNonEmpty);
}

export const CONFIG = {
	config: valued("--config <file>", "options kept in a YAML file; what is typed wins", parseNonEmpty),
};

export const MANIFEST = {
	...CONFIG,
	...SHEET,
	dataset: datasetOption("dataset of rows that have no dataset_id"),
	map: valued("--map <column=key>", "renames a column (repeatable)", collectPair),
	ignore: valued("--ignore <column>", "drops a column (repeatable)", collect),
	empty: choice("--empty <meaning>", ["skip", "null", "text"], "what an empty CSV cell means"),
	schema: valued(
		"--schema <file>",
		"JSON Schema for each row's metadata; none turns off the built-in checks",
		parseNonEmpty,
	),
	onDuplicate: choice(
		"--on-duplicate <what>",
		["error", "first", "last"],
		"what to do with a document that has two rows with different values",
	),
};

/** Options of commands that read many documents. */
export const READ = {
	...SERVICE,
	concurrency: defaulted<number | "auto">("--concurrency <n>", "most requests in flight", parseConcurrency, "auto"),
	maxDuration: valued("--max-duration <time>", "stops the run after that time", parseTime),
	...JSON_LINES,
};

const FAILED = "file for the rows that failed, to correct and use as a manifest";

/** Options of commands that work through rows, whether or not they write. */
export const ROWS = {
	...READ,
	maxErrors: valued("--max-errors <n or n%>", "stops when this many rows have failed", parseMaxErrors),
	failed: valued("--failed <file>", FAILED, parseNonEmpty),
};

export type RowFlags = GlobalFlags & ValuesOf<typeof ROWS>;

export function outageOption(byDefault = "15m"): Flag<number> {
	return valued("--max-outage <time>", `longest outage to wait out (default: ${byDefault})`, parseTime);
}

/** Flags of commands that read back written values. */
export type VerifyFlags = GlobalFlags & ValuesOf<typeof READ> & Given<{ maxOutage: number }>;

/** Ends of names of reports. Each stands for a form. */
const REPORT_ENDS = [".html", ".md", ".json"];

/** The file of `--report`. @throws InvalidArgumentError where its name does not say the form, or another form was given */
function parseReportFile(path: string, previous: string | undefined): string {
	if (previous !== undefined) throw new InvalidArgumentError(`It was given before, with ${previous}; give it once.`);
	if (REPORT_ENDS.includes(extname(path).toLowerCase())) return parseNonEmpty(path);
	throw new InvalidArgumentError("Its name must end in .html, .md or .json.");
}

/** The report of a run, which `runs report` writes too. */
export const REPORT = {
	report: valued("--report <file>", "the run as a page: .html, or .md or .json by the name", parseReportFile),
};

/** Outputs of commands that check a manifest, and send nothing of its rows. */
export const CHECK_OUTPUTS = {
	junit: valued("--junit <file>", "the run as a JUnit test report, one case a failed or invalid row", parseNonEmpty),
	annotations: choice(
		"--annotations <form>",
		["auto", "github", "gitlab", "none"],
		"problems and failed rows at the lines of the manifest; gitlab writes gl-code-quality-report.json",
	),
};

/** Options of commands that run rows: files for other programs. `src/run-end.ts` has their values. */
export const OUTPUTS = {
	...CHECK_OUTPUTS,
	...REPORT,
	metricsFile: valued(
		"--metrics-file <file>",
		"the run as metrics, for the folder of a Prometheus node exporter",
		parseNonEmpty,
	),
	ping: valued(
		"--ping <url>",
		"a monitor such as healthchecks.io; it gets a request at the start and at the end",
		parseNonEmpty,
	),
};

/** @param also what it overrides beside a lock, as the beginning of its help */
export function forceOption(also = ""): Flag<boolean> {
	return toggle("--force", `${also}takes the lock of a run on another machine`);
}

export const RUN = {
	...ROWS,
	failed: valued("--failed <file>", `${FAILED} (default: in the run's folder)`, parseNonEmpty),
	maxOutage: outageOption(),
	verify: choice(
		"--verify <what>",
		["none", "sample", "all"],
		"reads back what was written, all of it or a sample of 300 rows; exit 10 if anything is lost or altered",
	),
	...OUTPUTS,
	chunk: defaulted("--chunk <n>", "rows read and planned at a time; chunks overlap", parseCount(1, LARGEST_CHUNK), 100),
	attempts: defaulted("--attempts <n>", "attempts for one row, the first included", parseCount(1, 1000), 6),
	maxWait: valued("--max-wait <time>", "longest wait that the service may ask for (default: 5m)", parseTime),
	force: forceOption(),
};

/** Flags of commands that write rows. The engine has the defaults of the times. */
export type RunFlags = GlobalFlags &
	ValuesOf<typeof RUN> &
	Pick<RecordedFlags, "dataset" | "set" | "skipInvalid" | "allowTypeChange"> &
	Given<{
		allowEmpty: boolean;
		body: BodyChoice;
		resume: boolean;
		/** false: the previous values of documents are not saved, and the run can't be undone */
		undo: boolean;
		/** the recorded run to resume, for `runs resume` and `runs retry`, and whether its failed rows are sent again */
		run: string;
		reopen: boolean;
		/** answers the question of a removal or an undo */
		yes: boolean;
	}>;

/** Whether a run reads back what it writes. */
export function verifies({ verify }: Pick<RunFlags, "verify">): boolean {
	return verify !== "none";
}

export const SET = {
	set: valued("--set <key=value>", "adds a value to every row; KEY:number=5 gives it a type (repeatable)", collect),
};

export const BODY = {
	body: oneOf(
		"--body <form>",
		[...bodyForms, "auto"],
		"form of an update's body; auto takes the form that the flavour accepts (default: auto)",
	),
};

/** Of commands that send or plan metadata. */
export const TYPE_CHANGE = {
	allowTypeChange: toggle(
		"--allow-type-change",
		"sends values of another type than their key has, where a server refuses them and loses metadata",
	),
};

/** Options of commands that write the metadata of rows. */
export const WRITE = { ...SET, ...BODY, ...TYPE_CHANGE };

/** @param sends the verb for the valid rows in the help of `--skip-invalid` */
export function validityOptions(sends = "sends") {
	return {
		skipInvalid: toggle("--skip-invalid", `${sends} the valid rows of a manifest that has invalid ones, and exits 1`),
		allowEmpty: toggle("--allow-empty", "accepts a manifest without rows"),
	};
}

export function resumeOption(what = "manifest"): Flag<boolean> {
	const text = `resumes the newest run of this ${what} if it is unfinished and has the same content, else begins a new run`;
	return toggle("--resume", text);
}

/** Options of commands that run the rows of a manifest. */
export const RUN_OF_MANIFEST = { ...RUN, ...MANIFEST, ...validityOptions(), resume: resumeOption() };
