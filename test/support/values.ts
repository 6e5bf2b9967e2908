import { OUTCOMES } from "../../src/outcomes.ts";
/** A value inside parsed JSON: `at(answer, "data", "docs", 0, "id")`. Undefined where there is none. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
	return path.reduce<unknown>(
		(inner, key) => (typeof inner === "object" && inner !== null ? Reflect.get(inner, key) : undefined),
		value,
	);
}

/** The members of a parsed JSON array; a test that gets something else fails here. */
export function items(value: unknown): readonly unknown[] {
	if (!Array.isArray(value)) throw new Error(`not an array: ${JSON.stringify(value)}`);
	return value;
}

/** The names of a parsed object's members, in their order. */
export function keys(value: unknown): string[] {
	return typeof value === "object" && value !== null ? Object.keys(value) : [];
}

export function parse(text: string): unknown {
	const value: unknown = JSON.parse(text);
	return value;
}

/** Every line of JSON lines, parsed. */
export function parseLines(text: string): readonly unknown[] {
	return text
		.split("\n")
		.filter((line) => line !== "")
		.map(parse);
}

/** Whole numbers from `first` on. */
export function range(count: number, first = 0): number[] {
	return Array.from({ length: count }, (_, index) => first + index);
}

/** A line of each of so many numbers, as rows of a manifest. */
export function linesOf(count: number, line: (n: number) => string): string {
	return range(count)
		.map((n) => `${line(n)}\n`)
		.join("");
}

const COUNTS = [...OUTCOMES, "invalid", "duplicate_skipped", "pending"];

/** The summary of a `--json` run, which must be its last line, whose counts must add up to its rows. */
export function summaryOf(stdout: string): unknown {
	const lines = parseLines(stdout);
	const summary = lines.at(-1);
	if (at(lines[0], "type") !== "version") throw new Error(`the first line is no version: ${stdout.slice(0, 200)}`);
	if (at(summary, "type") !== "summary") throw new Error(`the last line is no summary: ${stdout.slice(-200)}`);
	const counts = COUNTS.map((name) => at(summary, name));
	const sum = counts.reduce<number>((total, count) => total + (typeof count === "number" ? count : Number.NaN), 0);
	if (sum !== at(summary, "rows")) throw new Error(`rows are not accounted for: ${JSON.stringify(summary)}`);
	for (const name of ["run", "resume", "attempts", "seconds", "verified", "changes", "exit_code"]) {
		if (at(summary, name) === undefined) throw new Error(`the summary has no ${name}`);
	}
	return summary;
}
