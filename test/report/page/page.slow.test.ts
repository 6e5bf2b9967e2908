import { accessSync, constants } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunPage } from "../../../src/report/page/model.ts";
import { pageHtml } from "../../../src/report/page/page.ts";
import type { SeriesPoint } from "../../../src/run/series/series-file.ts";
import { examplePage, examplePoints } from "../../support/pages.ts";
import { folderOfAll } from "../../support/service.ts";

const CHROMIUM = "/usr/bin/chromium";

/** What a browser would do by itself on the network would be taken for the page's doing. */
const QUIET = [
	"--headless",
	"--no-sandbox",
	"--disable-gpu",
	"--disable-quic",
	"--no-first-run",
	"--disable-background-networking",
	"--disable-component-update",
	"--disable-sync",
];

const hasChromium = (() => {
	try {
		accessSync(CHROMIUM, constants.X_OK);
		return true;
	} catch {
		return false;
	}
})();

/** A run with throttling, an outage, and a pause between two executions. */
function troubled(): SeriesPoint[] {
	const points = [...examplePoints(60), ...examplePoints(60, 90_000)];
	return points.map((point, at): SeriesPoint => {
		if (at >= 10 && at < 16) return { ...point, state: "waiting", sent: 0, p50: null, p95: null };
		if (at >= 16 && at < 25) return { ...point, state: "slowed", sent: 5 * (at - 15), rate: 5 * (at - 15) };
		if (at >= 70 && at < 90) return { ...point, state: "outage", sent: 1, p50: 5000, p95: 9000 };
		return point;
	});
}

const PAGES: readonly (readonly [string, () => RunPage])[] = [
	["5,000 rows", () => ({ ...examplePage({ rows: 5000, points: troubled() }), failures: many() })],
	["an outage and throttling", () => examplePage({ points: troubled() })],
	["0 rows", () => examplePage({ rows: 0, points: [] })],
	["hostile text", () => examplePage({ hostile: true })],
];

/** Failed rows of two codes, more than the page shows. */
function many(): RunPage["failures"] {
	const { rows } = examplePage({ rows: 5000 }).failures;
	const coded = rows.map((row, at) => (at % 10 === 0 ? { ...row, code: "HTTP_500", text: "the service failed" } : row));
	return { rows: coded, total: 7654 };
}

const VIEWS: readonly (readonly [string, BrowserContextOptions])[] = [
	["light", { colorScheme: "light" }],
	["dark", { colorScheme: "dark" }],
	["on a telephone", { viewport: { width: 400, height: 800 } }],
];

describe.skipIf(!hasChromium)(`a report in a browser (skipped without ${CHROMIUM})`, () => {
	const folder = folderOfAll();
	let browser: BrowserContext;

	beforeAll(async () => {
		const options = { executablePath: CHROMIUM, args: QUIET };
		browser = await chromium.launchPersistentContext(join(folder, "profile"), options);
	});

	afterAll(async () => {
		await browser.close();
	});

	/** Opens a report, looks at it, and closes it. Whatever it does on the network or against its policy is a fault. */
	async function open(made: RunPage, options: BrowserContextOptions, look: (page: Page) => Promise<void>) {
		const path = join(folder, "run.html");
		await writeFile(path, pageHtml(made));
		const own = pathToFileURL(path).href;
		const context = await browser.browser()?.newContext({ viewport: { width: 1200, height: 900 }, ...options });
		if (context === undefined) throw new Error("the browser has gone");
		const faults: string[] = [];
		try {
			await context.route("**", async (route) => {
				if (route.request().url() === own) return route.continue();
				faults.push(`request ${route.request().url()}`);
				return route.abort();
			});
			const page = await context.newPage();
			page.on("console", (message) => faults.push(`console ${message.text()}`));
			page.on("pageerror", (error) => faults.push(`error ${error.message}`));
			page.on("dialog", (dialog) => {
				faults.push(`dialog ${dialog.message()}`);
				void dialog.dismiss();
			});
			await page.goto(own);
			await look(page);
			expect(faults).toEqual([]);
		} finally {
			await context.close();
		}
	}

	const cases = PAGES.flatMap(([rows, made]) => VIEWS.map(([view, options]) => [rows, view, made, options] as const));

	it.each(cases)("asks no server for anything and fits the screen: %s, %s", async (_, __, made, options) => {
		const page = made();
		await open(page, options, async (shown) => {
			expect(await shown.locator("h1").innerText()).toContain(page.outcome.sentence);
			const width = await shown.locator("html").evaluate(({ scrollWidth }: HTMLElementLike) => scrollWidth);
			expect(width).toBeLessThanOrEqual(options.viewport?.width ?? 1200);
			expect(await shown.locator(".still svg:visible").count()).toBe(page.chart === undefined ? 0 : 1);
		});
	});

	it("keeps hostile text text: none of it becomes an element", async () => {
		await open(examplePage({ hostile: true }), {}, async (page) => {
			expect(await page.locator("main img, main script, main iframe, td b b").count()).toBe(0);
			expect(await page.locator("#changes td").last().innerText()).toContain("<img src=x onerror=alert(1)>");
			expect(await page.locator("body").innerText()).not.toMatch(/[\u202e\u2028]/);
		});
	});

	it("prints light, with the picture of its chart, and only the first rows", async () => {
		const made = { ...examplePage({ rows: 5000, points: troubled() }), failures: many() };
		await open(made, { colorScheme: "dark" }, async (page) => {
			await page.emulateMedia({ media: "print" });
			expect(await page.locator("body").evaluate(background)).toBe("rgb(255, 255, 255)");
			expect(await page.locator(".still svg:visible").count()).toBe(1);
			expect(await page.locator("#failed tbody tr:visible").count()).toBe(200);
			const pdf = await page.pdf({ format: "A4" });
			expect(pdf.subarray(0, 5).toString()).toBe("%PDF-");
			// Two tables of 200 rows and a chart.
			expect(pdf.toString("latin1").match(/\/Type\s*\/Page\b/g)?.length).toBeLessThan(30);
		});
	});

	it.each(["light", "dark"] as const)("has a contrast of text on its ground: %s", async (colorScheme) => {
		await open(examplePage({ points: troubled() }), { colorScheme }, async (page) => {
			const selectors = [
				"h1",
				".outcome",
				".title",
				"code",
				".counts li",
				".facts dt",
				".legend li",
				"th",
				".id",
				".add",
			];
			for (const selector of selectors) {
				const [ink, ground] = await page.locator(selector).first().evaluate(colours);
				expect(contrast(ink, ground), `${selector}: ${ink} on ${ground}`).toBeGreaterThanOrEqual(4.5);
			}
		});
	});
});

/** What these tests use of elements: the program is not compiled for browsers. */
type HTMLElementLike = {
	readonly scrollWidth: number;
	readonly parentElement: HTMLElementLike | null;
	readonly ownerDocument: { readonly defaultView: { getComputedStyle(element: HTMLElementLike): Style } };
};
type Style = { readonly color: string; readonly backgroundColor: string };

function background(element: HTMLElementLike): string {
	return element.ownerDocument.defaultView.getComputedStyle(element).backgroundColor;
}

/** Colour of the text of an element, and of the first ground behind it. */
function colours(element: HTMLElementLike): readonly [string, string] {
	const view = element.ownerDocument.defaultView;
	const ink = view.getComputedStyle(element).color;
	for (let at: HTMLElementLike | null = element; at !== null; at = at.parentElement) {
		const { backgroundColor } = view.getComputedStyle(at);
		if (!backgroundColor.endsWith(", 0)")) return [ink, backgroundColor];
	}
	return [ink, "rgb(255, 255, 255)"];
}

/** As WCAG 2.2 defines it ("contrast ratio", "relative luminance"). */
function contrast(one: string, other: string): number {
	const [lighter = 0, darker = 0] = [luminance(one), luminance(other)].toSorted((a, b) => b - a);
	return (lighter + 0.05) / (darker + 0.05);
}

function luminance(colour: string): number {
	const [red = 0, green = 0, blue = 0] = (colour.match(/\d+/g) ?? []).map((part) => {
		const share = Number(part) / 255;
		return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
	});
	return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
