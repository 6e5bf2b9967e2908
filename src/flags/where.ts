import { type CliError, usageError } from "../errors.ts";
import { splitType } from "../manifest/rows/typed.ts";
import type { Operator, Where } from "../plan/condition.ts";
import { conditionText } from "../plan/condition-text.ts";
import { excerpt } from "../text/show.ts";
import { quoted } from "./next-command.ts";

/** Operators as people type them, the longer ones first, and what a condition calls them. */
const COMPARISONS: readonly (readonly [typed: string, operator: Operator])[] = [
	[">=", "≥"],
	["<=", "≤"],
	["!=", "not is"],
	["≥", "≥"],
	["≤", "≤"],
	[">", ">"],
	["<", "<"],
];

const NUMBER = /^-?\d+(?:\.\d+)?$/;

/**
 * Gathers a repeatable `--where KEY=VALUE` into a list of pairs.
 *
 * @throws CliError exit 2 for another form, with the right one in the user's own words
 */
export function collectWhere(text: string, earlier: readonly Where[] = []): Where[] {
	const equals = text.indexOf("=");
	const comparison = comparisonIn(text, equals);
	if (comparison !== undefined) {
		const { key, operator, value } = comparison;
		const wanted = NUMBER.test(value) ? Number(value) : value;
		const json = conditionText({ logic: "and", tests: [{ name: key, operator, wanted }] });
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

/** A comparison that begins before the first equals sign, or with it. */
function comparisonIn(
	text: string,
	equals: number,
): { readonly key: string; readonly operator: Operator; readonly value: string } | undefined {
	const places = COMPARISONS.map(([typed, operator]) => ({ typed, operator, at: text.indexOf(typed) }));
	const [first] = places
		.filter(({ at }) => at > 0 && (equals === -1 || at < equals))
		.toSorted((one, other) => one.at - other.at || other.typed.length - one.typed.length);
	if (first === undefined) return undefined;
	const { typed, operator, at } = first;
	const key = text.slice(0, at).trim();
	// A key may have such a character within it: `a->b=c`.
	if (key === "" || (equals !== -1 && equals > at + typed.length)) return undefined;
	return { key, operator, value: text.slice(at + typed.length).trim() };
}

function wrong(text: string, what: string, hint: string): CliError {
	return usageError(`--where ${quoted(excerpt(text))} ${what}`, hint);
}
