import type { ExitCode } from "../errors.ts";
import { safeRate } from "../rates.ts";
import { wrapped } from "./table.ts";

type CheckStatus = keyof typeof MARKS;

/** One check and its result. */
export type Check = {
	readonly name: string;
	readonly status: CheckStatus;
	/** one sentence */
	readonly text: string;
	/** one sentence: the remedy */
	readonly hint?: string | undefined;
	/** the command to type next */
	readonly next?: string | undefined;
	/** the exit code that a failed check asks for */
	readonly exit?: ExitCode | undefined;
};

/** A setting and its origin. The value is null where it is not set or not shown. */
export type ShownSetting = {
	readonly name: string;
	readonly value: string | number | null;
	/** null where it is not set */
	readonly origin: string | null;
};

/** What `doctor` found out of the service, as far as it came. */
type Diagnosis = {
	readonly recognition?: { readonly flavour: { readonly name: string } };
	/** milliseconds */
	readonly latency?: number;
};

/** Marks for a terminal; each may give its text back as it is. */
type Marks = Readonly<Record<"dim" | "red" | "green" | "yellow", (text: string) => string>>;

/** Widths in columns: the longest name of each kind, and the gap after it. */
const SETTING_WIDTH = "state_dir".length + 2;
const STATUS_WIDTH = "warning".length + 2;
const NAME_WIDTH = "service".length + 2;
const INDENT = 2;

/** Columns. On a narrower terminal the lines are left to the terminal to wrap. */
const MIN_WIDTH = 30;

export function settingText({ name, value, origin }: ShownSetting, marks: Marks): string {
	const shown = value === null ? (origin === null ? marks.dim("not set") : "set, not shown") : String(value);
	return `${" ".repeat(INDENT)}${name.padEnd(SETTING_WIDTH)}${shown}${origin === null ? "" : marks.dim(` (${origin})`)}\n`;
}

export function settingLine({ name, value, origin }: ShownSetting): string {
	return `${JSON.stringify({ type: "setting", name, value, origin })}\n`;
}

/** A check as lines, the sentence wrapped to `width` columns and the hint below it. The status is a word: logs have no colour. */
export function checkText({ name, status, text, hint }: Check, marks: Marks, width: number): string {
	const left = INDENT + STATUS_WIDTH + NAME_WIDTH;
	const room = Math.max(MIN_WIDTH, width - left);
	const head = `${" ".repeat(INDENT)}${marks[MARKS[status]](status.padEnd(STATUS_WIDTH))}${name.padEnd(NAME_WIDTH)}`;
	const lines = [...wrapped(text, room), ...(hint === undefined ? [] : wrapped(hint, room))];
	return `${head}${lines.join(`\n${" ".repeat(left)}`)}\n`;
}

export function checkLine({ name, status, text, hint }: Check): string {
	return `${JSON.stringify({ type: "check", name, status, text, hint: hint ?? null })}\n`;
}

/** The last line of `doctor --json`. */
export function diagnosisLine({ recognition, latency }: Diagnosis, exit: ExitCode, next: string): string {
	const found = {
		flavour: recognition?.flavour.name ?? null,
		latency_ms: latency === undefined ? null : Math.round(latency * 10) / 10,
		safe_rate: latency === undefined ? null : safeRate(latency),
	};
	return `${JSON.stringify({ type: "doctor", ok: exit === 0, ...found, exit_code: exit, next })}\n`;
}

/** The counts of checks in words: `9 checks: 8 ok, 1 warning`. Counts of zero are left out. */
export function checksText(checks: readonly Check[]): string {
	const words: readonly CheckStatus[] = ["ok", "warning", "failed", "skipped"];
	const counts = words.map((word) => [word, checks.filter(({ status }) => status === word).length] as const);
	const parts = counts
		.filter(([, count]) => count > 0)
		.map(([word, count]) => `${count} ${word === "warning" && count > 1 ? "warnings" : word}`);
	return `${checks.length} ${checks.length === 1 ? "check" : "checks"}: ${parts.join(", ")}`;
}

const MARKS = { ok: "green", warning: "yellow", failed: "red", skipped: "dim" } as const;
