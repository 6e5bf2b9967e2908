import { expect, it } from "vitest";
import { CliError } from "../../src/errors.ts";
import { parseCondition } from "../../src/plan/condition-text.ts";
import { collectWhere } from "../../src/flags/values.ts";

it("pairs are gathered in their order, and values are taken as they are", () => {
	const pairs = ["a=b", "key=", "url=http://x/?a=1&b>2", "a->b=c", "time:zone=UTC"].reduce(
		(earlier: ReturnType<typeof collectWhere>, text) => collectWhere(text, earlier),
		[],
	);
	expect(pairs).toEqual([
		["a", "b"],
		["key", ""],
		["url", "http://x/?a=1&b>2"],
		["a->b", "c"],
		["time:zone", "UTC"],
	]);
});

it.each([
	["news", "--where news=VALUE"],
	["=news", "--where KEY=news"],
	["pages:number=4", "--where pages=4."],
	["tags:list=a|b", "--where 'tags=a|b'."],
])("%s is refused with the right form", (text, hint) => {
	expect(hintOf(text)).toContain(hint);
});

it.each([
	["pages>4", { name: "pages", operator: ">", wanted: 4 }],
	["pages >= 4.5", { name: "pages", operator: "≥", wanted: 4.5 }],
	["pages<=4", { name: "pages", operator: "≤", wanted: 4 }],
	["date<2025-01-01", { name: "date", operator: "<", wanted: "2025-01-01" }],
	["category!=news", { name: "category", operator: "not is", wanted: "news" }],
	["category != it's", { name: "category", operator: "not is", wanted: "it's" }],
])("%s is refused with the condition to type", (text, test) => {
	const typed = /^Write: --where-json '(.*)'$/.exec(hintOf(text))?.[1]?.replaceAll(String.raw`'\''`, "'") ?? "";
	expect(parseCondition(typed)).toEqual({ logic: "and", tests: [test] });
});

function hintOf(text: string): string {
	try {
		collectWhere(text);
	} catch (error) {
		if (error instanceof CliError) return error.hint ?? "";
		throw error;
	}
	return "";
}
