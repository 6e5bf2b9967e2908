import { namedDocument } from "../../text/show.ts";
import { Exit, type ExitCode } from "../../errors.ts";
import type { FailedRow, RunEnd } from "../../run-end.ts";
import { ENTITIES } from "../../report/escape.ts";
import { numberText } from "../../text/words.ts";

/** A test that did not pass: `failure` for a row, `error` for a run that stopped. */
type Fault = { readonly kind: "failure" | "error"; readonly type: string; readonly message: string };

type Case = { readonly name: string; readonly fault?: Fault | undefined };

/** Codes of a run that came to its end: its rows say what failed. */
const FINISHED: ReadonlySet<ExitCode> = new Set([Exit.ok, Exit.failedRows, Exit.differences]);

/**
 * The run as a test report: a suite with a case for the run itself, and one for each failed or invalid row. Without the first
 * case, a run that stopped before its first row would look like one that passed.
 *
 * It uses what both common schemas know, Ant's (windyroad/JUnit-Schema, JUnit.xsd) and Jenkins' (jenkinsci/xunit-plugin,
 * junit-10.xsd): Ant's wants every attribute that is written here, and an order of the elements.
 */
export function junitText(end: RunEnd): string {
	const rows = rowCases(end);
	const cases = [runCase(end, rows.length > 0), ...rows];
	const count = (kind: Fault["kind"]): number => cases.filter(({ fault }) => fault?.kind === kind).length;
	const seconds = (end.ended.getTime() - end.started.getTime()) / 1000;
	const suite = attributes({
		name: [end.command, ...end.args].join(" "),
		package: "ragtag",
		id: "0",
		// The schema allows no zone.
		timestamp: end.started.toISOString().slice(0, 19),
		hostname: "localhost",
		tests: String(cases.length),
		failures: String(count("failure")),
		errors: String(count("error")),
		time: seconds.toFixed(3),
	});
	const properties = propertiesOf(end).map(([name, value]) => `\t\t\t<property${attributes({ name, value })}/>\n`);
	return [
		`<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n\t<testsuite${suite}>\n`,
		`\t\t<properties>\n${properties.join("")}\t\t</properties>\n`,
		...cases.map((each) => caseText(each, `ragtag ${end.command}`)),
		`\t\t<system-out>${xmlText(end.text)}</system-out>\n\t\t<system-err/>\n\t</testsuite>\n</testsuites>\n`,
	].join("");
}

function runCase({ command, exit, text }: RunEnd, hasRows: boolean): Case {
	if (exit === Exit.ok || (exit === Exit.failedRows && hasRows)) return { name: command };
	const kind = FINISHED.has(exit) ? "failure" : "error";
	return { name: command, fault: { kind, type: `exit ${exit}`, message: text } };
}

/** One case a row: it may have several problems. */
function rowCases({ problems, failedRows, unlisted }: RunEnd): readonly Case[] {
	const faults = new Map<string, Fault>();
	const add = (name: string, type: string, message: string): void => {
		const before = faults.get(name);
		const all = before === undefined ? message : `${before.message}\n${message}`;
		faults.set(name, { kind: "failure", type: before?.type ?? type, message: all });
	};
	for (const { line, column, code, text } of problems) add(`line ${line}`, code, `column ${column}: ${text}`);
	for (const row of failedRows) add(rowName(row), row.code, `${row.code}: ${row.text}`);
	const name = `${numberText(unlisted)} more problems and failed rows`;
	if (unlisted > 0) add(name, "MORE", `${name}; the file of failed rows and --json have all of them`);
	return Array.from(faults, ([each, fault]) => ({ name: each, fault }));
}

/** `line 4: report.pdf` */
function rowName({ line, path, name, documentId }: FailedRow): string {
	const what = path ?? namedDocument(name, documentId);
	return what === "" ? `line ${line}` : `line ${line}: ${what}`;
}

function propertiesOf({ exit, summary, started, ended }: RunEnd): readonly (readonly [string, string])[] {
	const own = Object.entries(summary ?? {}).flatMap(([name, value]): (readonly [string, string])[] => {
		if (name === "type" || name === "exit_code" || value === null) return [];
		return [[name, typeof value === "object" ? JSON.stringify(value) : String(value)]];
	});
	return [["exit_code", String(exit)], ["started", started.toISOString()], ["ended", ended.toISOString()], ...own];
}

function caseText({ name, fault }: Case, classname: string): string {
	const head = `\t\t<testcase${attributes({ name, classname, time: "0.000" })}`;
	if (fault === undefined) return `${head}/>\n`;
	const { kind, type, message } = fault;
	const [first = ""] = message.split("\n");
	const body = `<${kind}${attributes({ message: first, type })}>${xmlText(message)}</${kind}>`;
	return `${head}>\n\t\t\t${body}\n\t\t</testcase>\n`;
}

function attributes(values: Readonly<Record<string, string>>): string {
	return Object.entries(values)
		.map(([name, value]) => ` ${name}="${xmlText(value)}"`)
		.join("");
}

/** Characters that XML 1.0 can't hold, not even escaped: most control characters, and halves of pairs. */
const UNWRITABLE = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

/** Also `>`: a text must not contain "]]>". */
const ESCAPES: ReadonlyMap<string, string> = new Map([
	...ENTITIES,
	// A parser makes blanks of these in attributes, and line feeds of carriage returns everywhere.
	["\t", "&#9;"],
	["\n", "&#10;"],
	["\r", "&#13;"],
]);

/** A text as the content of an element or of an attribute in double quotes. What XML can't hold becomes U+FFFD. */
function xmlText(text: string): string {
	return text.replaceAll(UNWRITABLE, "\u{FFFD}").replaceAll(/[&<>"\t\n\r]/g, (each) => ESCAPES.get(each) ?? each);
}
