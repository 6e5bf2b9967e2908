import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { chartOf } from "../../../src/report/page/chart.ts";
import { pageJson } from "../../../src/report/page/json.ts";
import { pageMarkdown } from "../../../src/report/page/markdown.ts";
import { outcomeOf, type RunPage } from "../../../src/report/page/model.ts";
import { pageHtml } from "../../../src/report/page/page.ts";
import { examplePage, examplePoints, HOSTILE, totalsOf } from "../../support/pages.ts";

/** What a browser would take for an element: all of the page except its own style. */
function markup(page: RunPage): string {
	return pageHtml(page).replaceAll(/<style>[\s\S]*?<\/style>/g, "");
}

describe("a report page", () => {
	it("allows its own style alone, by its hash, and has no script", () => {
		const text = pageHtml(examplePage());
		const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(text)?.[1];
		const own = /<style>([\s\S]*?)<\/style>/.exec(text)?.[1] ?? "";
		const hash = `'sha256-${createHash("sha256").update(own).digest("base64")}'`;
		expect(policy).toBe(`default-src 'none'; style-src ${hash}; base-uri 'none'; form-action 'none'`);
		expect(text.match(/<script|<style/g)).toEqual(["<style"]);
	});

	it("has no attribute that would load, run or style anything", () => {
		expect(markup(examplePage())).not.toMatch(/<[^>]*\s(?:src|href|style|on\w+|srcset|action)=/i);
	});

	it("keeps hostile names and values text, wherever they stand", () => {
		const text = markup(examplePage({ hostile: true }));
		expect(text).not.toMatch(/<(?:img|b |svg on|iframe|a |base)/i);
		expect(text).not.toContain("\u202e");
		expect(text).not.toContain("\u2028");
		expect(text).toContain("\\u{202e}");
		expect(text.match(/&lt;img src=x onerror=alert\(1\)&gt;/g)?.length).toBeGreaterThanOrEqual(8);
	});

	it("counts the rows that it does not show", () => {
		const page = examplePage();
		const [failure] = page.failures.rows;
		const text = markup({ ...page, failures: { rows: failure === undefined ? [] : [failure], total: 12_345 } });
		expect(text).toContain("The first 1 of 12,345.");
	});

	it("says equal changes once, and how the run was run, so that 5,000 rows need not be counted", () => {
		const page = examplePage({ rows: 40 });
		const text = markup(page);
		expect(text).toContain("<dt>Mode</dt><dd>merge</dd>");
		expect(text).toContain("<li><code>title</code>: add various values, such as <code>&quot;Engine 0&quot;</code>, ");
		expect(markup({ ...page, changes: { ...page.changes, total: 9_000 } })).toContain("of the first 40 documents");
	});
});

describe("the other forms of a report", () => {
	it("hold hostile text in code, which a page of Markdown does not interpret", () => {
		const text = pageMarkdown(examplePage({ hostile: true }));
		const outside = text.replaceAll(/(`+)[\s\S]*?[^`]\1(?!`)/g, "");
		expect(outside).not.toMatch(/(?<!\\)<img|\u202e|\u2028/);
		expect(text).toContain("| failed | 1 |");
		expect(text).toContain("ragtag runs retry 20261122T000000-000000");
	});

	it("hold hostile text exactly in JSON, with a version of the schema", () => {
		const value: unknown = JSON.parse(pageJson(examplePage({ hostile: true })));
		expect(value).toMatchObject({
			type: "report",
			schema: 1,
			exit_code: 1,
			counts: { rows: 3, failed: 1, duplicate_skipped: 0 },
			failed_rows: { total: 1, rows: [{ line: 3, error: HOSTILE }] },
			changes: { total: 1, rows: [{ keys: [{ key: HOSTILE, action: "add", to: HOSTILE }] }] },
		});
	});
});

describe("the outcome of a run in a sentence", () => {
	const lost = { mode: "all", rows: 2, checked: 2, equal: 1, normalised: 0, lost: 1, changed_since: 0 } as const;

	it.each([
		["all", { rows: 2, updated: 2 }, 0, "Successful: 2 rows: 2 updated."],
		["no row", { rows: 0 }, 0, "Successful: 0 rows: none was sent."],
		["failed rows", { rows: 9, updated: 6, failed: 3 }, 1, "Finished with failures: 9 rows: 6 updated, 3 failed."],
		["a stop", { rows: 10, updated: 4, pending: 6 }, 6, "Stopped early: 10 rows: 4 updated, 6 pending."],
		["a run that goes on", { rows: 9, pending: 5, updated: 4 }, undefined, "Not ended: 9 rows: 4 updated, 5 pending."],
		["no rows known", undefined, 3, "Failed: No row was sent."],
		["a good check", undefined, 0, "Successful: No row was sent."],
		["a fault of the program", undefined, 70, "Failed: The command ended before it could count its rows."],
		[
			"dry",
			{ rows: 9, pending: 4, unchanged: 5 },
			0,
			"Dry run: 9 rows: 5 unchanged, 4 would change. Nothing was sent.",
		],
		[
			"a dry run with a failed row",
			{ rows: 5, pending: 4, failed: 1 },
			1,
			"Dry run: 5 rows: 1 failed, 4 would change. Nothing was sent.",
		],
		["an output that could not be written", { rows: 2, updated: 2 }, 74, "Finished with failures: 2 rows: 2 updated."],
	] as const)("never says more than the exit code: %s", (_, counts, exit, expected) => {
		const { word, sentence } = outcomeOf({ totals: counts && totalsOf(counts), exit, verify: undefined });
		expect(`${word}: ${sentence}`).toBe(expected);
	});

	it("names what was lost", () => {
		const verify = { ...lost, unknown: 0, pending: 0 };
		const { sentence } = outcomeOf({ totals: totalsOf({ rows: 2, updated: 2 }), exit: 10, verify });
		expect(sentence).toBe("2 rows: 2 updated. 1 row did not keep what was written.");
	});
});

describe("the chart of a run", () => {
	it("puts executions one after the other, with a mark where the run was resumed", () => {
		const points = [...examplePoints(10), ...examplePoints(10, 1_000_000)];
		const rate = chartOf(points);
		expect(rate).toMatchObject({ end: 20, resumed: [10] });
		expect(rate?.x.at(-1)).toBe(19.5);
	});

	it("joins neighbouring seconds of one state to one band", () => {
		const points = examplePoints(10).map((point, at) => {
			return {
				...point,
				state: at >= 2 && at < 5 ? ("waiting" as const) : at === 8 ? ("outage" as const) : point.state,
			};
		});
		expect(chartOf(points)?.bands).toEqual([
			{ state: "waiting", from: 2, to: 5 },
			{ state: "outage", from: 8, to: 9 },
		]);
	});

	it.each([
		["nothing", [], 2],
		["a rate at its cap of 100", [100, 97], 120],
		["a rate of 7", [7, 3], 8],
		["a rate of 4,321", [4321, 10], 5000],
	])("has an axis that ends above the largest value: %s", (_, rates, top) => {
		const points = examplePoints(3).map((point, at) => ({ ...point, cap: null, sent: rates[at] ?? 0 }));
		expect(chartOf(points)?.top).toBe(top);
	});

	it("takes a short rest at the end together with the second before it: five requests in it would pass the cap", () => {
		const points = examplePoints(4).map((point, at) => ({
			...point,
			...(at < 3 ? { sent: 98 } : { s: 0.04, sent: 5 }),
		}));
		expect(chartOf(points)?.lines[0]?.values).toEqual([98, 98, 98, 99.038]);
	});

	it("has one point for several seconds of a long run, and loses neither a second nor an outage", () => {
		const points = examplePoints(1201).map((point, at) =>
			at === 700 ? { ...point, state: "outage" as const } : point,
		);
		const rate = chartOf(points);
		expect(rate).toMatchObject({ end: 1201, bands: [{ state: "outage", from: 699, to: 702 }] });
		expect(rate?.lines[0]?.values).toEqual(Array.from({ length: 401 }, () => 50));
	});

	it("is left out for a run of a moment", () => {
		expect(chartOf(examplePoints(2))).toBeUndefined();
	});
});
