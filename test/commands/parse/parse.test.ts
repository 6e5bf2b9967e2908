import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ends, says } from "../../support/ended.ts";
import type { Flavour } from "../../../src/sandbox/flavours/index.ts";
import { change } from "../../support/content.ts";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { file, folder, KEY, serve, type Service } from "../../support/service.ts";
import { at, parseLines, summaryOf } from "../../support/values.ts";
import { hurriedClock, hurriedTimers } from "../../support/clock.ts";

const RELEASES = [
	"ragflow-0.18",
	"ragflow-0.21",
	"ragflow-0.24",
	"ragflow-0.25",
	"ragflow-0.27",
	"ragflow-1.0",
] as const;

/** A service with files of these names, in that order. */
async function withFiles(flavour: Flavour, names: readonly string[], parsingLists = 3): Promise<Service> {
	const service = await serve(0, { flavour, parsingLists });
	const place = await folder();
	const paths = names.map((name) => join(place, name));
	await Promise.all(paths.map((path) => writeFile(path, "some text")));
	// One after the other: the second is the second of the list.
	const argv = ["docs", "upload", ...paths, "-d", service.dataset, "--concurrency", "1"];
	const uploaded = await ragtag(argv, { env: envOf(service) });
	expect(uploaded.exit).toBe(0);
	return service;
}

/** Runs `docs parse` of a whole dataset with these options; no wait of it takes its time. */
async function parse(service: Service, ...options: readonly string[]): ReturnType<typeof ragtag> {
	const argv = ["docs", "parse", "-d", service.dataset, "--json", ...options];
	return ragtag(argv, { env: envOf(service), clock: hurriedClock() });
}

const posts = ({ requests }: Service): number => requests.filter((line) => /^POST .*\/chunks/.test(line)).length;

it.each(RELEASES)("%s: each document is started once, and one at work or done is left alone", async (flavour) => {
	const service = await serve(23, { flavour });
	await ends(parse(service), 0, { rows: 23, parsed: 23, unchanged: 0 });
	expect(posts(service)).toBe(3);
	await ends(parse(service), 0, { rows: 23, parsed: 0, unchanged: 23 });
	expect(posts(service)).toBe(3);
});

it.each(RELEASES)("%s: with --wait a row is parsed when its document is, or has the reason", async (flavour) => {
	const service = await withFiles(flavour, ["a.txt", "b.txt", "parse-fails.txt"]);
	const { stdout, stderr } = await ends(parse(service, "--wait"), 1, { rows: 3, parsed: 2, failed: 1 });
	const [failed] = parseLines(stdout).filter((line) => at(line, "type") === "row");
	expect(failed).toMatchObject({ status: "failed", error_code: "PARSE_FAILED" });
	expect(stderr).toContain("the sandbox can't parse parse-fails.txt");
});

it("--wait shows how many documents are at work, before the first is done", async () => {
	const service = await withFiles("ragflow-0.27", ["a.txt", "b.txt", "c.txt"], 40);
	const argv = ["docs", "parse", "-d", service.dataset, "--wait", "--progress", "json"];
	const world = { env: envOf(service), clock: hurriedClock(), shown: hurriedTimers() };
	const { exit, stderr } = await ragtag(argv, world);
	expect(exit).toBe(0);
	const lines = parseLines(stderr).filter((line) => at(line, "type") === "progress");
	expect(lines).toContainEqual(expect.objectContaining({ state: "running", done: 0, total: 3, parsing: 3 }));
	expect(lines.some((line) => Number(at(line, "seconds_left")) > 0)).toBe(true);
});

it("--only-failed parses those whose parsing failed, and no other", async () => {
	const service = await withFiles("ragflow-0.27", ["a.txt", "parse-fails-once.txt"]);
	const [, once = ""] = await service.ids();
	await parse(service, "--id", once, "--wait");
	await ends(parse(service, "--only-failed", "--wait"), 0, { rows: 2, parsed: 1, unchanged: 1 });
});

it("--again makes the chunks of a done document anew, and only after it was confirmed", async () => {
	const service = await withFiles("ragflow-0.27", ["a.txt"], 1);
	expect((await parse(service, "--wait")).exit).toBe(0);
	const asked = await parse(service, "--again", "--wait");
	expect([asked.exit, posts(service)]).toEqual([2, 1]);
	await ends(parse(service, "--again", "--wait", "--yes"), 0, { parsed: 1, unchanged: 0 });
	expect(posts(service)).toBe(2);
});

it("a service that documents no such call is asked for nothing: exit 2", async () => {
	const service = await serve(2);
	const path = await file("ids.csv", `document_id\n${(await service.ids()).join("\n")}\n`);
	for (const rows of [[], [path]]) {
		const argv = ["docs", "parse", ...rows, "-d", service.dataset];
		await says(ragtag(argv, { env: envOf(service) }), 2, "this service documents no such call");
	}
	expect(service.requests.filter((line) => line.includes("/chunks"))).toEqual([]);
});

it.each(["ragflow-0.24", "ragflow-1.0"] as const)(
	"%s: a document of which nothing changes any more is a failed row that says so, and others are done",
	async (flavour) => {
		const service = await withFiles(flavour, ["a.txt", "parse-stalls.txt"]);
		const { stdout } = await ends(parse(service, "--wait", "--stall-time", "2m"), 1, { parsed: 1, failed: 1 });
		expect(stdout).toContain('"error_code":"PARSE_STALLED"');
	},
);

it("a document that is disabled is not started: it would lose its chunks and never be done", async () => {
	const service = await serve(1, { flavour: "ragflow-0.27" });
	const [id = ""] = await service.ids();
	await change(service, "PATCH", id, { enabled: 0 });
	const { exit, stdout } = await parse(service);
	expect([exit, posts(service)]).toEqual([1, 0]);
	expect(stdout).toContain('"error_code":"DISABLED"');
});

it.each(["ragflow-0.21", "ragflow-0.27", "ragflow-1.0"] as const)(
	"%s: a document that another client starts meanwhile stops none of the others",
	async (flavour) => {
		const service = await serve(12, { flavour, parsingLists: 100 });
		const ids = await service.ids();
		const listed = new RegExp(`^GET .*${ids[0]}`);
		const other = setInterval(() => {
			if (!service.requests.some((line) => listed.test(line) || line.includes("page_size=100"))) return;
			clearInterval(other);
			void start(service, [ids[5] ?? ""]);
		}, 1);
		const { exit, stdout } = await parse(service);
		clearInterval(other);
		expect(exit).toBe(0);
		const { parsed, unchanged } = summaryOf(stdout) as { parsed: number; unchanged: number };
		expect(parsed + unchanged).toBe(12);
	},
);

it("a dry run shows which documents would be parsed, and starts none", async () => {
	const service = await serve(3, { flavour: "ragflow-0.25" });
	const [first = ""] = await service.ids();
	await parse(service, "--id", first);
	const { exit, stdout } = await parse(service, "--dry-run", "--detailed-exitcode");
	expect([exit, summaryOf(stdout)]).toMatchObject([10, { changes: 2, unchanged: 1, pending: 2 }]);
	expect(parseLines(stdout).filter((line) => at(line, "action") === "parse")).toHaveLength(2);
	expect(posts(service)).toBe(1);
});

it("an interrupted run goes on: documents at work are followed, and not started again", async () => {
	const service = await withFiles("ragflow-0.27", ["a.txt", "b.txt", "c.txt"], 6);
	const home = await folder();
	const env = envOf(service);
	const stop = new AbortController();
	const argv = ["docs", "parse", "-d", service.dataset, "--wait", "--json"];
	const timer = setInterval(() => posts(service) > 0 && stop.abort({ exit: 130, text: "interrupted" }), 1);
	const cut = await ragtag(argv, { env, home, signal: stop.signal });
	clearInterval(timer);
	expect([cut.exit, summaryOf(cut.stdout)]).toMatchObject([130, { pending: 3 }]);
	const run = String(at(summaryOf(cut.stdout), "run"));
	expect(cut.stderr).toContain(`ragtag runs resume ${run}`);
	const { exit, stdout } = await ragtag(["runs", "resume", run, "--json"], { env, home, clock: hurriedClock() });
	expect([exit, summaryOf(stdout)]).toMatchObject([0, { parsed: 3, pending: 0 }]);
	expect(posts(service)).toBe(1);
	await says(ragtag(["runs", "undo", run, "--yes"], { env, home }), 2, "parsing can't be undone");
});

it("a parse between a tag and its undo is no conflict: it changes no metadata", async () => {
	const service = await serve(2, { flavour: "ragflow-0.21" });
	const [env, home] = [envOf(service), await folder()];
	const path = await file("tags.csv", `document_id,a\n${(await service.ids()).map((id) => `${id},x`).join("\n")}\n`);
	expect((await ragtag(["docs", "tag", path, "-d", service.dataset], { env, home })).exit).toBe(0);
	expect((await ragtag(["docs", "parse", "-d", service.dataset], { env, home, clock: hurriedClock() })).exit).toBe(0);
	await ends(ragtag(["runs", "undo", "--yes", "--json"], { env, home }), 0, { updated: 2 });
});

function start({ url, dataset }: Service, ids: readonly string[]): Promise<Response> {
	return fetch(`${url}/api/v1/datasets/${dataset}/chunks`, {
		method: "POST",
		headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
		body: JSON.stringify({ document_ids: ids }),
	});
}

it("docs list shows the state of each document, and those of one state alone", async () => {
	const service = await withFiles("ragflow-0.25", ["a.txt", "b.txt", "parse-fails.txt"]);
	await parse(service, "--wait");
	const list = async (...more: readonly string[]) => {
		const argv = ["docs", "list", "-d", service.dataset, "--fields", "name,run,progress,chunk_count", ...more];
		return ragtag(argv, { env: envOf(service) });
	};
	const { stdout } = await list("--format", "tsv", "--sort", "name");
	expect(stdout.split("\n").map((line) => line.split("\t").slice(0, 2))).toEqual([
		["name", "run"],
		["a.txt", "DONE"],
		["b.txt", "DONE"],
		["parse-fails.txt", "FAIL"],
		[""],
	]);
	const failed = await list("--parsing", "fail,cancel", "--json");
	expect(parseLines(failed.stdout)).toMatchObject([{ name: "parse-fails.txt", run: "FAIL" }]);
	const documented = await serve(1);
	const none = await ragtag(["docs", "list", "-d", documented.dataset, "--parsing", "DONE"], {
		env: envOf(documented),
	});
	expect([none.exit, none.stderr]).toEqual([2, expect.stringContaining("shows no state of parsing")]);
});
