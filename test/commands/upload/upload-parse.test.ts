import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ends, says } from "../../support/ended.ts";
import type { Flavour } from "../../../src/sandbox/flavours/index.ts";
import { hurriedClock } from "../../support/clock.ts";
import { change, held } from "../../support/content.ts";
import { recorded, runOf } from "../../support/recorded.ts";
import { folder, type Service } from "../../support/service.ts";
import { at, parseLines, summaryOf } from "../../support/values.ts";

const RELEASES: readonly Flavour[] = ["ragflow-0.18", "ragflow-0.21", "ragflow-0.24", "ragflow-0.27", "ragflow-1.0"];

/** A folder of files of these names, and a service to upload them to. No wait takes its time. */
async function files(flavour: Flavour, names: readonly string[], parsingLists = 3) {
	const { service, run, home } = await recorded(0, { flavour, parsingLists });
	const place = await folder();
	for (const name of names) await writeFile(join(place, name), `text of ${name}`);
	const argv = ["docs", "upload", place, "-d", service.dataset, "--set", "team=x", "--json"];
	const upload = (...more: readonly string[]) => run([...argv, ...more], { clock: hurriedClock() });
	return { service, run, home, place, argv, upload };
}

const named = (count: number): string[] => Array.from({ length: count }, (_, n) => `file-${n}.txt`);
const sent = ({ requests }: Service, line: RegExp): number => requests.filter((request) => line.test(request)).length;
const PARSE = /^POST .*\/chunks/;
const UPLOAD = /^POST .*\/documents /;
const rows = (stdout: string): unknown[] => parseLines(stdout).filter((line) => at(line, "type") === "row");

it.each(RELEASES)("%s: --parse starts a document after its metadata, and its row stays uploaded", async (flavour) => {
	const { service, upload } = await files(flavour, named(12));
	const { exit, stdout, stderr } = await upload("--parse");
	expect([exit, stderr, summaryOf(stdout)]).toMatchObject([0, stderr, { rows: 12, uploaded: 12, parsed: 0 }]);
	expect(sent(service, PARSE)).toBe(2);
	const writes = service.requests.filter((line) => !line.startsWith("GET"));
	const tagged = writes
		.slice(
			0,
			writes.findIndex((line) => PARSE.test(line)),
		)
		.filter((line) => /^PU?A?T/.test(line));
	expect(tagged.length).toBeGreaterThanOrEqual(10);
	expect((await service.documents()).map(({ metadata }) => metadata)).toEqual(named(12).map(() => ({ team: "x" })));
});

it.each(RELEASES)("%s: --wait follows it to the end, and names each failure and its document", async (flavour) => {
	const { service, upload } = await files(flavour, ["a.txt", "parse-fails.txt", "z.txt"]);
	const { stdout, stderr } = await ends(upload("--parse", "--wait"), 1, { uploaded: 2, failed: 1 });
	expect(stderr).toContain("the sandbox can't parse parse-fails.txt");
	expect(stderr.trimEnd().split("\n").at(-1)).toMatch(/Parse these documents again, .*: ragtag runs retry /);
	const stored = (await service.documents()).find(({ name }) => name === "parse-fails.txt");
	const failed = rows(stdout).find((row) => at(row, "status") === "failed");
	expect(failed).toMatchObject({ error_code: "PARSE_FAILED", document_id: stored?.id });
});

it("a retry of a failed parsing parses, and uploads nothing again", async () => {
	const { service, run, upload } = await files("ragflow-0.25", ["a.txt", "parse-fails-once.txt"]);
	const first = await ends(upload("--parse", "--wait"), 1, { uploaded: 1, failed: 1 });
	const again = await run(["runs", "retry", runOf(first.stdout), "--json"], { clock: hurriedClock() });
	expect([again.exit, summaryOf(again.stdout)]).toMatchObject([0, { uploaded: 2, failed: 0 }]);
	expect([sent(service, UPLOAD), sent(service, PARSE)]).toEqual([2, 2]);
});

it("a run that ends between upload and parsing goes on with the parsing: no file is stored twice", async () => {
	const { service, run, argv } = await files("ragflow-0.27", named(3), 50);
	const stop = new AbortController();
	const timer = setInterval(() => sent(service, PARSE) > 0 && stop.abort({ exit: 130, text: "interrupted" }), 1);
	const cut = await run([...argv, "--parse", "--wait"], { signal: stop.signal });
	clearInterval(timer);
	expect([cut.exit, summaryOf(cut.stdout)]).toMatchObject([130, { pending: 3 }]);
	const { exit, stdout } = await run(["runs", "resume", runOf(cut.stdout), "--json"], { clock: hurriedClock() });
	expect([exit, summaryOf(stdout)]).toMatchObject([0, { uploaded: 3, pending: 0 }]);
	expect([sent(service, UPLOAD), sent(service, PARSE)]).toEqual([3, 1]);
});

it("documents that are there and were never parsed are parsed, and those that are done are left alone", async () => {
	const { service, upload } = await files("ragflow-0.24", named(3));
	expect((await upload()).exit).toBe(0);
	await ends(upload("--on-existing", "skip", "--parse", "--dry-run"), 0, { changes: 3 });
	expect(sent(service, PARSE)).toBe(0);
	await ends(upload("--on-existing", "skip", "--parse", "--wait"), 0, { parsed: 3, unchanged: 0 });
	await ends(upload("--on-existing", "skip", "--parse", "--wait"), 0, { parsed: 0, unchanged: 3 });
	expect(sent(service, PARSE)).toBe(1);
});

it("--parse is refused before anything is sent by a service that documents no such call", async () => {
	const { service, upload } = await files("documented", ["a.txt"]);
	await says(upload("--parse"), 2, "--parse: this service documents no such call");
	expect([sent(service, UPLOAD), await service.documents()]).toEqual([0, []]);
});

it.each(["ragflow-0.21", "ragflow-0.27"] as const)(
	"%s: replace --parse --wait removes the old document only when questions find the new one",
	async (flavour) => {
		const { service, upload, place } = await files(flavour, ["a.txt"]);
		expect((await upload("--parse", "--wait")).exit).toBe(0);
		await writeFile(join(place, "a.txt"), "quite another text");
		const from = service.requests.length;
		const { exit, stdout, stderr } = await upload("--on-existing", "replace", "--parse", "--wait");
		expect([exit, stderr, summaryOf(stdout)]).toMatchObject([0, stderr, { replaced: 1 }]);
		expect(await held(service)).toEqual([{ name: "a.txt", metadata: { team: "x" }, content: "quite another text" }]);
		const order = service.requests.slice(from).filter((line) => PARSE.test(line) || line.startsWith("DELETE"));
		expect(order).toEqual([expect.stringMatching(PARSE), expect.stringMatching(/^DELETE/)]);
		expect(stderr).not.toContain("until it is parsed");
	},
);

it("replace --parse --wait keeps the old document where the new one can't be parsed, and a retry ends it", async () => {
	const { service, run, upload, place } = await files("ragflow-0.27", ["parse-fails-once.txt"]);
	await upload();
	const [old] = await service.documents();
	await writeFile(join(place, "parse-fails-once.txt"), "quite another text");
	const first = await says(upload("--on-existing", "replace", "--parse", "--wait"), 1, "was left as it was");
	expect((await service.documents()).map(({ id }) => id)).toContain(old?.id);
	await ends(run(["runs", "retry", runOf(first.stdout), "--json"], { clock: hurriedClock() }), 0, { replaced: 1 });
	expect((await held(service)).map(({ name, content }) => [name, content])).toEqual([
		["parse-fails-once.txt", "quite another text"],
	]);
	expect(sent(service, UPLOAD)).toBe(2);
});

it("a disabled document is replaced without being parsed: that would never end, and questions find neither", async () => {
	const { service, upload, place } = await files("ragflow-0.27", ["a.txt"]);
	await upload();
	const [old] = await service.documents();
	await change(service, "PATCH", old?.id ?? "", { enabled: false });
	await writeFile(join(place, "a.txt"), "quite another text");
	const { stderr } = await ends(upload("--on-existing", "replace", "--parse", "--wait"), 0, { replaced: 1 });
	expect([stderr, sent(service, PARSE)]).toEqual([expect.stringContaining("disabled"), 0]);
});
