import type { ServerResponse } from "node:http";
import { expect, it } from "vitest";
import { listen } from "../../support/listen.ts";
import { DATASET, lookUpText } from "../../support/looked-up.ts";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { file } from "../../support/service.ts";
import { range, summaryOf } from "../../support/values.ts";

const CONCURRENCY = 100;

it("--concurrency opens as many connections: a faster service is not left waiting", async () => {
	const id = (n: number): string => n.toString(16).padStart(32, "0");
	const open: ServerResponse[] = [];
	let together = 0;
	let updates = 0;
	const { url } = await listen((request, response) => {
		const answer = (text: string): void => void response.end(text);
		request.resume();
		if (request.method === "GET") return answer(lookUpText(request, () => (updates === 0 ? {} : { n: "1" })));
		updates += 1;
		// The first update is sent alone. All others are answered only when that many are here at once.
		if (updates === 1) return answer('{"code":0}');
		open.push(response);
		together = Math.max(together, open.length);
		if (open.length >= CONCURRENCY) for (const waiting of open.splice(0)) waiting.end('{"code":0}');
		return undefined;
	});
	const rows = range(CONCURRENCY + 1).map((n) => `${id(n + 1)},1`);
	const manifest = await file("tags.csv", `document_id,n\n${rows.join("\n")}\n`);
	const flags = ["--rate", "unlimited", "--no-undo", "--json", "--flavour", "ragflow-put", "--timeout", "20s"];
	const argv = ["docs", "tag", manifest, "-d", DATASET, "--concurrency", String(CONCURRENCY), ...flags];
	const { exit, stdout } = await ragtag(argv, { env: envOf({ url }) });
	expect([exit, together]).toEqual([0, CONCURRENCY]);
	expect(summaryOf(stdout)).toMatchObject({ updated: CONCURRENCY + 1 });
});
