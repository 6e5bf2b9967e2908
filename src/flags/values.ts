import { InvalidArgumentError } from "commander";
import { type CliError, usageError } from "../errors.ts";
import type { Condition, Operator, Where } from "../plan/condition.ts";
import { conditionText, parseCondition } from "../plan/condition-text.ts";
import { millisecondsIn } from "../text/times.ts";
import { MOST_CONCURRENCY, RATE_FORMS, parseRateSetting } from "../rates.ts";
import type { MaxErrors } from "../run/stop/limits.ts";
import { splitType } from "../manifest/rows/typed.ts";
import { excerpt } from "../text/show.ts";
import { quoted } from "./next-command.ts";

/** A parser of the texts that `read` understands: for any other, it gives undefined. */
export function by<Value>(read: (text: string) => Value | undefined, wanted: string): (text: string) => Value {
	return (text) => {
		const value = read(text);
		if (value === undefined) throw new InvalidArgumentError(`It must be ${wanted}.`);
		return value;
	};
}

/** `500ms`, `60s`, `5m`, `2h`, `30d`, `2w`; a bare number is seconds. In milliseconds. */
export const parseTime = by(millisecondsIn, "a time, as in 500ms, 60s, 5m, 2h, 30d or 2w");

export const parseRate = by(parseRateSetting, RATE_FORMS);

/** An age: a bare number is refused, as seconds would be an age that nearly all things have. In milliseconds. */
export function parseAge(text: string): number {
	const milliseconds = /\d$/.test(text) ? undefined : millisecondsIn(text);
	if (milliseconds !== undefined) return milliseconds;
	const meant = /^\d+(?:\.\d+)?$/.test(text) ? ` Did you mean ${text}d?` : "";
	throw new InvalidArgumentError(`It must be an age with its unit, as in 12h, 90d or 8w.${meant}`);
}

/** A parser of whole numbers from `least` to `most`. */
export function parseCount(least: number, most: number): (text: string) => number {
	return (text) => {
		const count = /^\d+$/.test(text) ? Number(text) : Number.NaN;
		if (!(count >= least && count <= most)) {
			throw new InvalidArgumentError(`It is a whole number from ${least} to ${most}.`);
		}
		return count;
	};
}

export function parseConcurrency(text: string): number | "auto" {
	return text === "auto" ? text : parseCount(1, MOST_CONCURRENCY)(text);
}

export function parseMaxErrors(text: string): MaxErrors {
	const match = /^(\d+(?:\.\d+)?)(%?)$/.exec(text);
	const value = Number(match?.[1]);
	const unit = match?.[2] === "%" ? "percent" : "rows";
	const valid = unit === "percent" ? value > 0 && value <= 100 : Number.isInteger(value) && value >= 1;
	if (match === null || !valid)
		throw new InvalidArgumentError("It must be a number of rows, as in 10, or a share, as in 5%.");
	return { unit, value };
}

/** Gathers a repeatable `LEFT=RIGHT` option into a list of pairs. */
export function collectPair(
	text: string,
	earlier: readonly (readonly [string, string])[] = [],
): readonly (readonly [string, string])[] {
	const at = text.indexOf("=");
	if (at < 1) throw new InvalidArgumentError("It must have the form LEFT=RIGHT.");
	return [...earlier, [text.slice(0, at), text.slice(at + 1)]];
}

/** Gathers a repeatable option into a list. */
export function collect(text: string, earlier: readonly string[] = []): readonly string[] {
	if (text === "") throw new InvalidArgumentError("It must not be empty.");
	return [...earlier, text];
}

/** A name that is not empty. An empty one comes from an unset variable of a script. */
export function parseNonEmpty(text: string): string {
	if (text.trim() === "") throw new InvalidArgumentError("It is empty: was a variable not set?");
	return text;
}

/** Words that other programs take after `-o` for a format. */
const FORMATS = /^(?:json|jsonl|ndjson|yaml|csv|tsv|table|text|wide|name|md)$/i;

/** The path of an output. A word of a format is refused: no file of that name is meant. */
export function parseOut(text: string): string {
	if (!FORMATS.test(text)) return parseNonEmpty(text);
	const hint = `It is the word of a format, and -o takes a file. Lists take --format ${text}; a file of that name is ./${text}.`;
	throw new InvalidArgumentError(hint);
}

/** An example of a `metadata_condition` for `--where-json`. */
export const CONDITION_EXAMPLE =
	'{"conditions":[{"name":"publish_date","comparison_operator":"≥","value":"2025-01-01"}]}';

export function parseConditionFlag(text: string, earlier?: Condition): Condition {
	// Otherwise the second condition would silently replace the first.
	const condition = earlier === undefined ? parseCondition(text) : "it is given twice, and one condition can hold both";
	if (typeof condition !== "string") return condition;
	throw usageError(`--where-json: ${condition}`, `It is a metadata_condition, as in '${CONDITION_EXAMPLE}'.`);
}

/** `pages>=4`. A key may have such a sign within it: in `a->b=c` an equals sign comes later. */
const COMPARISON = /^([^=]+?)(?:([<>!]=)(.*)|([<>≥≤])([^=]*))$/s;

/** Signs of comparisons, and what a condition calls them. */
const OPERATORS: ReadonlyMap<string, Operator> = new Map([
	[">=", "≥"],
	["<=", "≤"],
	["!=", "not is"],
	["≥", "≥"],
	["≤", "≤"],
	[">", ">"],
	["<", "<"],
]);

const NUMBER = /^-?\d+(?:\.\d+)?$/;

/**
 * Gathers a repeatable `--where KEY=VALUE` into a list of pairs.
 *
 * @throws CliError exit 2 for another form, with the right one in the user's own words
 */
export function collectWhere(text: string, earlier: readonly Where[] = []): readonly Where[] {
	const equals = text.indexOf("=");
	const [, name = "", two, afterTwo, one, afterOne = ""] = COMPARISON.exec(text) ?? [];
	const operator = OPERATORS.get(two ?? one ?? "");
	if (operator !== undefined && name.trim() !== "") {
		const value = (afterTwo ?? afterOne).trim();
		const wanted = NUMBER.test(value) ? Number(value) : value;
		const json = conditionText({ logic: "and", tests: [{ name: name.trim(), operator, wanted }] });
		throw wrong(text, "compares, and --where finds equal values alone", `Write: --where-json ${quoted(json)}`);
	}
	if (equals === -1) throw wrong(text, "has no value", `Write KEY=VALUE: --where ${quoted(`${text.trim()}=VALUE`)}`);
	const [typed, value] = [text.slice(0, equals), text.slice(equals + 1)];
	if (typed.trim() === "") throw wrong(text, "has no key", `Write KEY=VALUE: --where ${quoted(`KEY=${value}`)}`);
	const { key, explicit, type } = splitType(typed);
	if (explicit && key !== "") {
		const literal = conditionText({ logic: "and", tests: [{ name: typed, operator: "is", wanted: value }] });
		throw wrong(
			text,
			`names the type ${type}, and values are compared as text`,
			`Write: --where ${quoted(`${key}=${value}`)}. For a key that is called ${typed}: --where-json ${quoted(literal)}`,
		);
	}
	return [...earlier, [typed, value]];
}

function wrong(text: string, what: string, hint: string): CliError {
	return usageError(`--where ${quoted(excerpt(text))} ${what}`, hint);
}
