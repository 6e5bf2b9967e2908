import { describe, expect, it } from "vitest";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { file, folder, idOf, profilesIn, serve } from "../../support/service.ts";
import { range, summaryOf } from "../../support/values.ts";
import { GivenTimers } from "../../support/timers.ts";
import type { ServerResponse } from "node:http";
import { listen } from "../../support/listen.ts";
import { DATASET, lookUpText } from "../../support/looked-up.ts";
import { ends } from "../../support/ended.ts";
import { systemClock } from "../../../src/run/clock.ts";

async function world() {
	const service = await serve(3);
	const rows = (await service.ids()).map((id) => `${id},Ann\n`);
	const manifest = await file("tags.csv", `document_id,author\n${rows.join("")}`);
	const before = service.requests.length;
	const env = { ...envOf(service), RAGTAG_STATE_DIR: await folder() };
	const tag = ["docs", "tag", manifest, "-d", service.dataset];
	return { service, env, tag, sent: () => service.requests.slice(before) };
}

describe("--rate auto", () => {
	it("is named in the summary and in the record, with what was found", async () => {
		const { env, tag } = await world();
		const { exit, stdout, stderr } = await ragtag([...tag, "--rate", "auto", "--json"], { env });
		expect(exit).toBe(0);
		expect(summaryOf(stdout)).toMatchObject({ updated: 3, found_rate: { rate: 20, because: null, at: null } });
		expect(stderr).toContain("rate auto: no limit was seen up to 20 a second\n");
		const shown = await ragtag(["runs", "show"], { env });
		expect(shown.stdout).toContain("rate auto  no limit was seen up to 20 a second\n");
		const json = await ragtag(["runs", "show", "--json"], { env });
		expect(JSON.parse(json.stdout)).toMatchObject({ found_rate: { rate: 20, because: null, at: null } });
	});

	it("is taken from a profile, and by commands that only read", async () => {
		const { service, env } = await world();
		const home = await folder();
		await profilesIn(home, `{fast: {base_url: "${service.url}", rate: auto}}`);
		for (const argv of [
			["docs", "list", "-d", service.dataset, "--profile", "fast"],
			["docs", "list", "-d", service.dataset, "--rate", "auto"],
			["docs", "list", "-d", service.dataset, "--rate", "08:00=20 20:00=auto"],
		]) {
			expect(await ragtag(argv, { env, home })).toMatchObject({ exit: 0 });
		}
		const { stdout } = await ragtag(["doctor", "--rate", "auto"], { env, home });
		expect(stdout).toContain("auto (--rate)");
	});

	it.each(["auto", "08:00=20 20:00=auto"])("%s with a cap that runs share is refused", async (rate) => {
		const { env, tag, sent } = await world();
		const { exit, stderr } = await ragtag([...tag, "--rate", rate, "--limiter", "redis://127.0.0.1:1"], { env });
		expect(exit).toBe(2);
		expect(stderr).toContain("a rate that is looked for (auto) can't be the cap that runs share by --limiter");
		expect(stderr).toContain("--rate N");
		expect(sent()).toEqual([]);
	});
});

describe("a timetable of rates", () => {
	it.each(["docs tag", "docs list"])("changes the rate of %s while it goes on", async (command) => {
		const timers = new GivenTimers(new Date(2026, 10, 22, 22, 4, 59));
		let requests = 0;
		const service = await serve(3, {
			log: () => {
				requests += 1;
				// The first request went out at once. At the rate before 22:05 the next would in a hundred seconds.
				if (requests === 1) timers.now = new Date(2026, 10, 22, 22, 5);
				timers.tick();
			},
		});
		const ids = [1, 2, 3].map((n) => `${idOf(n)},Ann\n`);
		const manifest = await file("tags.csv", `document_id,author\n${ids.join("")}`);
		const argv = [...command.split(" "), ...(command === "docs tag" ? [manifest] : []), "-d", service.dataset];

		const ended = await ragtag([...argv, "--rate", "08:00=0.01 22:05=unlimited"], { env: envOf(service), timers });
		expect(ended).toMatchObject({ exit: 0 });
		expect(requests).toBeGreaterThan(1);
	});
});

const CONCURRENCY = 100;

it("--concurrency opens as many connections: a faster service is not left waiting", async () => {
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
	const rows = range(CONCURRENCY + 1).map((n) => `${idOf(n + 1)},1`);
	const manifest = await file("tags.csv", `document_id,n\n${rows.join("\n")}\n`);
	const flags = ["--rate", "unlimited", "--no-undo", "--json", "--flavour", "ragflow-put", "--timeout", "20s"];
	const argv = ["docs", "tag", manifest, "-d", DATASET, "--concurrency", String(CONCURRENCY), ...flags];
	const { exit, stdout } = await ragtag(argv, { env: envOf({ url }) });
	expect([exit, together]).toEqual([0, CONCURRENCY]);
	expect(summaryOf(stdout)).toMatchObject({ updated: CONCURRENCY + 1 });
});

/** What the service asks to wait, in milliseconds. */
const ASKED = 2_000;

/** A request that left before the client saw the answer arrives so much later at most, in milliseconds. */
const UNDER_WAY = 200;

it("a wait that the service asked of a row also holds for the reading back after the run", async () => {
	const arrived: number[] = [];
	let throttled: number | undefined;
	const service = await serve(5, {
		latency: 50,
		faults: {
			faults: [
				{
					fault: "throttle",
					seconds: ASKED / 1000,
					when: "before",
					on: { method: "PUT", document: idOf(2), times: 1 },
				},
			],
		},
		log: (line) => {
			const [time = ""] = line.split(" ");
			arrived.push(Date.parse(time));
			// The line is written when the request is answered.
			if (line.includes(" 429")) throttled = Date.now();
		},
	});
	const rows = [idOf(1), idOf(2), "f".repeat(32)].map((id) => `${id},Ann\n`);
	const manifest = await file("tags.csv", `document_id,author\n${rows.join("")}`);

	const argv = ["docs", "tag", manifest, "-d", service.dataset, "--max-errors", "1", "--verify", "all"];
	const world = { env: envOf(service), clock: systemClock };
	const ended = await ragtag([...argv, "--no-undo", "--rate", "unlimited", "--json"], world);
	await ends(ended, 9, { updated: 1, pending: 1, failed: 1, verify: { equal: 1 } });
	const from = throttled ?? Number.NaN;
	const early = arrived.map((time) => time - from).filter((after) => after > UNDER_WAY && after < ASKED - 1);
	expect(early).toEqual([]);
	expect(arrived.filter((time) => time - from >= ASKED - 1).length).toBeGreaterThan(0);
});
