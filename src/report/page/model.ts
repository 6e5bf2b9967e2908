import type { SlowCause } from "../../run/rate/slow-seconds.ts";
import type { FoundRate } from "../../run/rate/found-rate.ts";
import type { Totals, VerifyCounts } from "../../run/types.ts";
import { durationText, numberText, rowsText } from "../../text/words.ts";
import type { ShownChange } from "../change-tally.ts";
import { causesText, foundRateText } from "../pace.ts";
import { countsText } from "../summary.ts";
import { verifyText } from "../verify.ts";
import type { Chart } from "./chart.ts";

/** A row that failed, or a row of the manifest that is invalid. */
export type PageFailure = {
	/** from 1 */
	readonly line: number;
	/** empty where there is none */
	readonly documentId: string;
	/** path of an upload, where it is known */
	readonly path?: string | undefined;
	readonly code: string;
	readonly text: string;
	/** 0 for a row that was never sent */
	readonly attempts: number;
};

/** What a run wrote onto one document. */
export type PageChange = ShownChange & {
	/** whether it is known what the document had before; otherwise all of its keys are added */
	readonly isBeforeKnown: boolean;
};

/** The first of a list, and how many there are in all. */
type Cut<Item> = { readonly rows: readonly Item[]; readonly total: number };

/** A fact of a run with its name. Without a text it is left out. */
type Fact = readonly [name: string, text: string | undefined];

/** A command to type next. */
export type NextCommand = { readonly what: string; readonly command: string };

/** All that a report says. Texts are foreign and not escaped. */
export type RunPage = {
	/** `docs tag` */
	readonly command: string;
	/** version of the program that wrote the report */
	readonly ragtag: string;
	readonly outcome: { readonly tone: "good" | "bad" | "open"; readonly word: string; readonly sentence: string };
	/** why it ended early, or what else was said at the end */
	readonly reasons: readonly string[];
	readonly next: readonly NextCommand[];
	readonly service?: string | undefined;
	readonly datasets: readonly { readonly id: string; readonly name: string | undefined }[];
	readonly manifest: string | undefined;
	/** how it was run: options, rate, who began it, latency; those without a text are left out */
	readonly settings: readonly Fact[];
	/** ISO times */
	readonly started: string | undefined;
	readonly ended: string | undefined;
	readonly executions: number;
	/** name of the recorded run */
	readonly run?: string | undefined;
	/** undefined where the command ended before its rows were known */
	readonly totals: Totals | undefined;
	/** of all executions; undefined where it is not known */
	readonly seconds: number | undefined;
	/** undefined for a run that has not ended */
	readonly exit: number | undefined;
	readonly slow: readonly SlowCause[];
	/** what `--rate auto` found; undefined where the rate was not looked for */
	readonly foundRate?: FoundRate | undefined;
	readonly verify: VerifyCounts | undefined;
	/** undefined where the run was too short, or has no figures */
	readonly chart: Chart | undefined;
	/** by code, the most frequent first */
	readonly codes: readonly { readonly code: string; readonly count: number; readonly example: string }[];
	readonly failures: Cut<PageFailure>;
	readonly problems: Cut<PageFailure>;
	readonly changes: Cut<PageChange>;
};

/** Exits of a command whose rows are not known that promise that no row was sent. */
const UNSENT: readonly (number | undefined)[] = [0, 2, 3, 5, 8];

/** Exits of a command that came to its end: rows that are pending then are those that a dry run would change. */
const COMPLETE: readonly (number | undefined)[] = [0, 1, 10, 74];

/** How a run ended, in one word and one sentence. The word never says more than the exit code. */
export function outcomeOf({ totals, exit, verify }: Pick<RunPage, "totals" | "exit" | "verify">): RunPage["outcome"] {
	const pending = totals?.pending ?? 0;
	const isDry = pending > 0 && COMPLETE.includes(exit);
	const unsent = UNSENT.includes(exit) ? "No row was sent." : "The command ended before it could count its rows.";
	const lost =
		verify === undefined || verify.lost === 0 ? "" : ` ${rowsText(verify.lost)} did not keep what was written.`;
	const sentence =
		totals === undefined ? unsent : `${countsText(totals, isDry ? pending : 0)}.${isDry ? " Nothing was sent." : lost}`;
	if (exit === undefined) return { tone: "open", word: "Not ended", sentence };
	if (isDry) return { tone: "open", word: "Dry run", sentence };
	if (exit === 0) return { tone: "good", word: "Successful", sentence };
	if (totals === undefined) return { tone: "bad", word: "Failed", sentence };
	return pending > 0
		? { tone: "open", word: "Stopped early", sentence }
		: { tone: "bad", word: "Finished with failures", sentence };
}

/** `ragtag docs tag tags.csv` */
export function titleOf({ command, manifest }: RunPage): string {
	return ["ragtag", command, ...(manifest === undefined ? [] : [manifest])].join(" ");
}

/** What is known of a run besides its counts, each with its name. */
export function factsOf(page: RunPage) {
	const { totals, seconds, exit, datasets, executions, foundRate, verify } = page;
	const names = datasets.map(({ id, name }) => (name === undefined ? id : `${name} (${id})`));
	const all: readonly Fact[] = [
		["Service", page.service],
		[datasets.length > 1 ? "Datasets" : "Dataset", names.length === 0 ? undefined : names.join(", ")],
		...page.settings,
		["Started", timeText(page.started)],
		["Ended", timeText(page.ended)],
		["Duration", seconds === undefined ? undefined : durationText(seconds)],
		["Executions", executions > 1 ? String(executions) : undefined],
		["Attempts", totals === undefined ? undefined : numberText(totals.attempts)],
		["Rate", foundRate && foundRateText(foundRate)],
		["Held up", page.slow.length === 0 ? undefined : causesText(page.slow)],
		["Verification", verify && verifyText(verify)],
		["Run", page.run],
		["Exit code", exit === undefined ? undefined : String(exit)],
	];
	return all.flatMap(([name, text]) => (text === undefined ? [] : [[name, text] as const]));
}

/** `2026-11-22 08:37:36 UTC`. */
function timeText(iso: string | undefined): string | undefined {
	return iso === undefined ? undefined : `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
}

/** Columns of numbers. */
export const NUMERIC: readonly string[] = ["Line", "Rows", "Attempts"];

/** The first rows of a table. Its cells are foreign. */
export type PageTable = {
	readonly id: string;
	readonly title: string;
	readonly columns: readonly string[];
	readonly rows: readonly (readonly string[])[];
	readonly total: number;
};

/** The tables of what failed; one without a row is left out. */
export function tablesOf({ problems, codes, failures }: RunPage): PageTable[] {
	const tables: PageTable[] = [
		{
			id: "problems",
			title: "Invalid rows of the manifest",
			columns: ["Line", "Code", "Problem"],
			rows: problems.rows.map(({ line, code, text }) => [String(line), code, text]),
			total: problems.total,
		},
		{
			id: "codes",
			title: "Failures by code",
			columns: ["Rows", "Code", "For example"],
			rows: codes.map(({ code, count, example }) => [numberText(count), code, example]),
			total: codes.length,
		},
		{
			id: "failed",
			title: "Failed rows",
			columns: ["Line", "Document", "Code", "Error", "Attempts"],
			rows: failures.rows.map((row) => {
				return [String(row.line), row.path ?? row.documentId, row.code, row.text, String(row.attempts)];
			}),
			total: failures.total,
		},
	];
	return tables.filter(({ total }) => total > 0);
}
