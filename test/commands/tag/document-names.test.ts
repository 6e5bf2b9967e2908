import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { says } from "../../support/ended.ts";
import { parsePlan } from "../../../src/sandbox/faults/plan.ts";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { file, folder, serve } from "../../support/service.ts";
import { at, parseLines } from "../../support/values.ts";

const ABSENT = "e".repeat(32);

it("a failed row says the name that the manifest gives, and its file is fed back with that column", async () => {
	const service = await serve(2);
	const [id = ""] = await service.ids();
	const path = await file("tags.csv", `document_id,name,author\n${id},mine.txt,Ann\n${ABSENT},lost.txt,Ben\n`);
	const failed = join(await folder(), "failed.csv");
	const world = { env: envOf(service), home: await folder() };
	const argv = ["docs", "tag", path, "-d", service.dataset, "--failed", failed];
	await says(ragtag(argv, world), 1, `lost.txt (${ABSENT})`);
	const text = await readFile(failed, "utf8");
	expect(text).toMatch(/^document_id,name,author,_line,_error_code,_error,_attempts\n/);
	// The service knows the name that a document has; the manifest's may be an old one.
	const json = await ragtag([...argv, "--mode", "merge", "--json"], world);
	expect(parseLines(json.stdout).filter((line) => at(line, "type") === "row")).toMatchObject([
		{ document_id: ABSENT, name: "lost.txt" },
	]);
	await writeFile(failed, text.replace(ABSENT, id));
	const again = await ragtag(["docs", "tag", failed, "-d", service.dataset], world);
	expect(again.exit).toBe(0);
	expect((await service.documents())[0]?.metadata).toEqual({ author: "Ben" });
});

it("a name in a manifest is no metadata and has no faults, whatever it is", async () => {
	const service = await serve(1);
	const [id = ""] = await service.ids();
	const documents = [{ document_id: id, name: 5, meta_fields: { author: "Ann" } }];
	const path = await file("tags.json", JSON.stringify(documents));
	const world = { env: envOf(service) };
	expect((await ragtag(["docs", "tag", path, "-d", service.dataset], world)).exit).toBe(0);
	const half = await file("half.json", `[{"document_id":"${id}","name":"\\ud83d","author":"Ann"}]`);
	expect((await ragtag(["docs", "tag", half, "-d", service.dataset], world)).exit).toBe(0);
	const long = await file("long.csv", `document_id,name,author\n${id},${"x".repeat(2_000_000)},Ann\n`);
	expect((await ragtag(["docs", "tag", long, "-d", service.dataset], world)).exit).toBe(0);
	expect((await service.documents())[0]?.metadata).toEqual({ author: "Ann" });
});

it("a plan carries names to the rows that fail later, and an edited name is exit 8", async () => {
	const service = await serve(2);
	const [first = "", second = ""] = await service.ids();
	const world = { env: envOf(service), home: await folder() };
	const tags = await file("tags.csv", `document_id,author\n${first},Ann\n${second},Ben\n`);
	const plan = join(await folder(), "plan.jsonl");
	expect((await ragtag(["docs", "plan", tags, "-d", service.dataset, "--out", plan], world)).exit).toBe(0);
	const text = await readFile(plan, "utf8");
	expect(text).toContain(`"document_id":"${first}","name":"document-0000001.txt","action":"update"`);
	await service.put(second, { author: "Someone else" });
	const dry = await ragtag(["docs", "apply", plan, "--dry-run"], world);
	expect(dry.stdout).toContain(`document-0000001.txt (${first}) line 2\n`);
	expect(dry.stderr).toContain(`document document-0000002.txt (${second}) was changed since the plan was made`);
	await writeFile(plan, text.replace("document-0000001.txt", "another.txt"));
	expect((await ragtag(["docs", "apply", plan], world)).exit).toBe(8);
});

it("a question names the first documents and their dataset, and looks up at most three of them", async () => {
	const service = await serve(6);
	const ids = await service.ids();
	const world = { env: envOf(service), home: await folder(), terminal: true };
	const rm = async (requests: number, ...argv: string[]): Promise<string> => {
		const before = service.requests.length;
		const { exit, stderr } = await ragtag(["docs", "rm", ...argv, "-d", service.dataset], { ...world, stdin: "no\n" });
		expect([exit, service.requests.length - before]).toEqual([2, requests]);
		return stderr.split("This cannot")[0] ?? "";
	};
	const question = `document-0000001.txt (${ids[0]})`;
	expect(await rm(1, "--id", ids[0] ?? "")).toBe(`Remove 1 document of dataset ${service.dataset}?\n  ${question}\n`);
	expect(await rm(1, "--id", ABSENT)).toBe(`Remove 1 document of dataset ${service.dataset}?\n  ${ABSENT}\n`);
	expect(await rm(3, "--id", ...ids)).toContain(`\n  document-0000003.txt (${ids[2]})\n  and 3 more\n`);
	// The list of datasets is kept for the shell's completion.
	expect((await ragtag(["datasets", "list"], world)).exit).toBe(0);
	const manifest = await file("old.csv", `document_id,name\n${ids.map((id, n) => `${id},old-${n}.pdf\n`).join("")}`);
	expect(await rm(0, manifest)).toBe(
		`Remove 6 documents of dataset sandbox (${service.dataset})?\n  old-0.pdf (${ids[0]})\n  old-1.pdf (${ids[1]})\n  old-2.pdf (${ids[2]})\n  and 3 more\n`,
	);
	const tags = await file("tags.csv", `document_id,author\n${ids[0]},Ann\n`);
	expect((await ragtag(["docs", "tag", tags, "-d", service.dataset], world)).exit).toBe(0);
	const undo = await ragtag(["runs", "undo"], { ...world, stdin: "no\n" });
	await says(undo, 2, `, which wrote 1 document of dataset sandbox (${service.dataset})?\n  ${question}\nType yes`);
});

it("a question is asked with ids where no name can be read, after a single attempt", async () => {
	const faults = parsePlan('{"faults":[{"fault":"status","status":500,"when":"before","on":{"method":"GET"}}]}');
	const service = await serve(0, { faults });
	const world = { env: envOf(service), home: await folder(), terminal: true, stdin: "no\n" };
	const { exit, stderr } = await ragtag(["docs", "rm", "--id", "a1", "b2", "-d", service.dataset], world);
	expect([exit, service.requests.length]).toEqual([2, 1]);
	expect(stderr).toContain(`Remove 2 documents of dataset ${service.dataset}?\n  a1\n  b2\nThis cannot be undone.`);
});
