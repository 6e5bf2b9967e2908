import { describe, expect, it } from "vitest";
import { ends } from "../../support/ended.ts";
import { systemClock } from "../../../src/run/clock.ts";
import { listen } from "../../support/listen.ts";
import { DATASET, lookUpText } from "../../support/looked-up.ts";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { file, idOf } from "../../support/service.ts";
import { at, range, summaryOf } from "../../support/values.ts";

/** A service with a limit of its own. `limit` says when an update is answered, in milliseconds from now, or that it is refused. */
async function limited(limit: () => number | "429"): Promise<string> {
	const written = new Set<string>();
	const { url } = await listen((request, response) => {
		request.resume();
		const { method, url: path = "" } = request;
		if (method === "GET") {
			response.end(lookUpText(request, (id) => (written.has(id) ? { n: "1" } : {})));
			return;
		}
		const wait = limit();
		if (wait !== "429") written.add(path.split("/").at(-1) ?? "");
		if (wait === "429") {
			response.statusCode = 429;
			response.end();
		} else setTimeout(() => void response.end('{"code":0}'), wait);
	});
	return url;
}

async function tagged(url: string, rows: number): Promise<unknown> {
	const ids = range(rows, 1).map((n) => `${idOf(n)},1`);
	const manifest = await file("tags.csv", `document_id,n\n${ids.join("\n")}\n`);
	const flags = ["--rate", "auto", "--no-undo", "--json", "--flavour", "ragflow-put"];
	const argv = ["docs", "tag", manifest, "-d", DATASET, ...flags];
	const ended = await ragtag(argv, { env: envOf({ url }), clock: systemClock });
	const { stdout } = await ends(ended, 0, { updated: rows, failed: 0 });
	return summaryOf(stdout);
}

describe("a service with a limit of its own, over real sockets", () => {
	it("that answers 429 is found", async () => {
		const sends: number[] = [];
		const url = await limited(() => {
			const now = performance.now();
			while ((sends[0] ?? now) < now - 1_000) sends.shift();
			if (sends.length >= 50) return "429";
			sends.push(now);
			return 2;
		});
		const found = await tagged(url, 300);
		expect(at(found, "found_rate", "because")).toBe("429");
		const rate = Number(at(found, "found_rate", "rate"));
		expect(rate).toBeGreaterThan(20);
		expect(rate).toBeLessThan(80);
	});

	it("that only gets slower is found by its latency, and no row fails", async () => {
		let free = 0;
		const url = await limited(() => {
			const now = performance.now();
			free = Math.max(free, now) + 1000 / 60;
			return free - now;
		});
		const found = await tagged(url, 400);
		expect(at(found, "found_rate", "because")).toBe("latency");
		const rate = Number(at(found, "found_rate", "rate"));
		expect(rate).toBeGreaterThan(30);
		expect(rate).toBeLessThan(75);
	});
});
