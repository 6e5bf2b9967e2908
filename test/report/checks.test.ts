import { describe, expect, it } from "vitest";
import {
	type Check,
	checkLine,
	checksText,
	checkText,
	diagnosisLine,
	settingLine,
	settingText,
} from "../../src/report/checks.ts";

const same = (text: string): string => text;
const plain = { dim: same, red: same, green: same, yellow: same };
const key: Check = { name: "key", status: "failed", text: "the key is refused by the service", hint: "Check the key." };

describe("a report can be read in a log, where there is no colour", () => {
	it.each<[Parameters<typeof settingText>[0], string]>([
		[{ name: "rate", value: 50, origin: "profile p" }, "  rate       50 (profile p)\n"],
		[{ name: "api_key", value: null, origin: "RAGTAG_API_KEY" }, "  api_key    set, not shown (RAGTAG_API_KEY)\n"],
		[{ name: "proxy", value: null, origin: null }, "  proxy      not set\n"],
	])("%j", (setting, text) => {
		expect(settingText(setting, plain)).toBe(text);
	});

	it("a check's status is a word, and its hint stands below its sentence", () => {
		expect(checkText(key, plain, Number.POSITIVE_INFINITY)).toBe(
			"  failed   key      the key is refused by the service\n                    Check the key.\n",
		);
	});

	it("on a terminal a sentence is wrapped between words below itself", () => {
		const lines = checkText({ ...key, text: "word ".repeat(20).trim() }, plain, 60).split("\n");
		for (const line of lines) expect(line.length).toBeLessThanOrEqual(60);
		expect(lines[1]).toMatch(/^ {20}word word/);
		// An address to copy is never cut.
		expect(checkText({ ...key, text: "x".repeat(90) }, plain, 60)).toContain("x".repeat(90));
	});

	it("each status has its own mark", () => {
		const marks = {
			dim: (t: string) => `d${t}`,
			red: (t: string) => `r${t}`,
			green: (t: string) => `g${t}`,
			yellow: (t: string) => `y${t}`,
		};
		const marked = (["ok", "warning", "failed", "skipped"] as const).map((status) =>
			checkText({ ...key, status }, marks, 80).slice(2, 4),
		);
		expect(marked).toEqual(["go", "yw", "rf", "ds"]);
	});
});

it.each([
	[["ok", "ok", "warning"], "3 checks: 2 ok, 1 warning"],
	[["warning", "warning", "failed", "skipped"], "4 checks: 2 warnings, 1 failed, 1 skipped"],
	[["ok"], "1 check: 1 ok"],
] as const)("%j are %s", (statuses, text) => {
	expect(checksText(statuses.map((status) => ({ ...key, status })))).toBe(text);
});

it("a script finds the same members in every line, whatever is unknown", () => {
	expect(JSON.parse(settingLine({ name: "api_key", value: null, origin: "--api-key-file" }))).toEqual({
		type: "setting",
		name: "api_key",
		value: null,
		origin: "--api-key-file",
	});
	const { hint: _hint, ...bare } = { ...key, exit: 4, next: "ragtag doctor" } as const;
	const line = { type: "check", name: "key", status: "failed", text: key.text, hint: null };
	expect(JSON.parse(checkLine(bare))).toEqual(line);
	expect(JSON.parse(diagnosisLine({}, 6, "ragtag doctor"))).toEqual({
		type: "doctor",
		ok: false,
		flavour: null,
		latency_ms: null,
		safe_rate: null,
		exit_code: 6,
		next: "ragtag doctor",
	});
});
