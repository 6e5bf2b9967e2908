import type { ExitCode } from "../errors.ts";
import { displayWidth } from "./list-lines.ts";

export type CheckStatus = "ok" | "warning" | "failed" | "skipped";

/** One thing that was looked at, and what came of it. */
export type Check = {
	readonly name: string;
	readonly status: CheckStatus;
	/** one sentence for a person */
	readonly text: string;
	/** what to do about it, one sentence */
	readonly hint?: string | undefined;
	/** the command to type next */
	readonly next?: string | undefined;
	/** the exit code that a failed check asks for */
	readonly exit?: ExitCode | undefined;
};

/** A setting and what gave it. A value of null is not set, or not shown. */
export type ShownSetting = {
	readonly name: string;
	readonly value: string | number | null;
	/** null where nothing gave it */
	readonly origin: string | null;
};

/** What a `doctor` came to: the last line of its `--json`. */
export type Diagnosis = {
	readonly flavour: string | null;
	/** milliseconds */
	readonly latency: number | null;
	/** requests a second */
	readonly safeRate: number | null;
	readonly exit: ExitCode;
	readonly next: string | null;
};

/** Marks for a terminal; each may give its text back as it is. */
type Marks = Readonly<Record<"dim" | "red" | "green" | "yellow", (text: string) => string>>;

/** Columns of the longest name of a setting, and of a check's status and name, with what stands between them. */
const SETTING = "state_dir".length + 2;
const STATUS = "warning".length + 2;
const NAME = "service".length + 2;
const INDENT = 2;

/** The narrowest that text is wrapped to: below that a terminal does it better. */
const NARROWEST = 30;

export function settingText({ name, value, origin }: ShownSetting, marks: Marks): string {
	const shown = value === null ? (origin === null ? marks.dim("not set") : "set, not shown") : String(value);
	return `${" ".repeat(INDENT)}${name.padEnd(SETTING)}${shown}${origin === null ? "" : marks.dim(` (${origin})`)}\n`;
}

export function settingLine({ name, value, origin }: ShownSetting): string {
	return `${JSON.stringify({ type: "setting", name, value, origin })}\n`;
}

/** A check as lines, the sentence wrapped to `width` columns and the hint below it. The status is a word: logs have no colour. */
export function checkText({ name, status, text, hint }: Check, marks: Marks, width: number): string {
	const left = INDENT + STATUS + NAME;
	const room = Math.max(NARROWEST, width - left);
	const head = `${" ".repeat(INDENT)}${markOf(status, marks)(status.padEnd(STATUS))}${name.padEnd(NAME)}`;
	const lines = [...wrap(text, room), ...(hint === undefined ? [] : wrap(hint, room))];
	return `${head}${lines.join(`\n${" ".repeat(left)}`)}\n`;
}

export function checkLine({ name, status, text, hint }: Check): string {
	return `${JSON.stringify({ type: "check", name, status, text, hint: hint ?? null })}\n`;
}

export function diagnosisLine({ flavour, latency, safeRate, exit, next }: Diagnosis): string {
	const line = { ok: exit === 0, flavour, latency_ms: latency, safe_rate: safeRate, exit_code: exit, next };
	return `${JSON.stringify({ type: "doctor", ...line })}\n`;
}

/** The counts of checks in words: `9 checks: 8 ok, 1 warning`. Counts of zero are left out. */
export function checksText(checks: readonly Check[]): string {
	const words: readonly CheckStatus[] = ["ok", "warning", "failed", "skipped"];
	const counted = words.map((word) => [word, checks.filter(({ status }) => status === word).length] as const);
	const parts = counted
		.filter(([, count]) => count > 0)
		.map(([word, count]) => `${count} ${word === "warning" && count > 1 ? "warnings" : word}`);
	return `${checks.length} ${checks.length === 1 ? "check" : "checks"}: ${parts.join(", ")}`;
}

function markOf(status: CheckStatus, marks: Marks): (text: string) => string {
	switch (status) {
		case "ok":
			return marks.green;
		case "warning":
			return marks.yellow;
		case "failed":
			return marks.red;
		case "skipped":
			return marks.dim;
	}
}

/** Breaks a sentence between words. A word that is wider than the room keeps a line to itself: it may be an address to copy. */
function wrap(text: string, room: number): string[] {
	const lines: string[] = [];
	let line = "";
	for (const word of text.split(" ")) {
		if (line === "") line = word;
		else if (displayWidth(line) + 1 + displayWidth(word) <= room) line += ` ${word}`;
		else {
			lines.push(line);
			line = word;
		}
	}
	return [...lines, line];
}
