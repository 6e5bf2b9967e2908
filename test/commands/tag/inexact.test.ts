import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ends, says } from "../../support/ended.ts";
import type { Ended } from "../../support/ragtag.ts";
import { type RawWorld, rawWorld, updates } from "../../support/raw-world.ts";
import { file, folder, profilesIn } from "../../support/service.ts";
import { at, items, linesOf, parseLines, range, summaryOf } from "../../support/values.ts";

/** What the documents have at first, as the service writes it: nobody could write it with `JSON.stringify`. */
const RAW = ['{"tweet_id":12345678901234567890,"owner":"Ann"}', '{"owner":"Bob","n":1}'];

const world = (raw: readonly string[] = RAW): Promise<RawWorld> => rawWorld(raw);
const ROUNDED = "12345678901234567000";

describe("a merge never writes a rounded number back", () => {
	it.each([[[]], [["--only-changed"]], [["--dry-run"]]])(
		"its row fails, nothing is sent for it, and the others go on, with %j",
		async (more) => {
			const service = await world();
			const path = await file("tags.csv", "document_id,owner\ndoc-0,Eve\ndoc-1,Eve\n");
			const argv = ["docs", "tag", path, "-d", "set", "--mode", "merge", "--json", ...more];
			const { exit, stdout } = await service.run(...argv);
			expect(exit).toBe(1);
			const isDry = more.includes("--dry-run");
			expect(summaryOf(stdout)).toMatchObject({ failed: 1, updated: isDry ? 0 : 1, changes: 1 });
			const rows = parseLines(stdout).filter((line) => at(line, "type") === "row");
			expect(rows).toEqual([
				expect.objectContaining({
					document_id: "doc-0",
					error_code: "INEXACT_NUMBER",
					error: expect.stringMatching(/document doc-0 .*can't be kept exactly \(key: tweet_id\); nothing was sent/),
				}),
			]);
			expect(new Set(updates(service))).toEqual(new Set(isDry ? [] : ["PUT /api/v1/datasets/set/documents/doc-1"]));
			expect(service.held.get("doc-0")).toEqual({});
		},
	);

	it("the same where the dataset is listed into a file", async () => {
		const raw = range(40).map((n) => (n === 7 ? '{"a":[1,1e400]}' : `{"n":${n}}`));
		const service = await world(raw);
		const path = await file("tags.csv", `document_id,owner\n${linesOf(40, (n) => `doc-${n},Eve`)}`);
		const { stdout } = await service.run("docs", "tag", path, "-d", "set", "--mode", "merge", "--json");
		expect(summaryOf(stdout)).toMatchObject({ failed: 1, updated: 39 });
		expect(service.held.get("doc-7")).toEqual({});
		expect(service.held.get("doc-8")).toEqual({ n: 8, owner: "Eve" });
	});

	it.each([
		["replaces", "tweet_id\ndoc-0,none", { owner: "Ann", tweet_id: "none" }],
		["deletes", "tweet_id\ndoc-0,!delete", { owner: "Ann" }],
		[
			"replaces by the rounded number itself",
			`tweet_id:number\ndoc-0,${ROUNDED}`,
			{ owner: "Ann", tweet_id: 12345678901234567000 },
		],
	])("but a row that %s the key is sent, and can't be undone", async (_, cells, left) => {
		const service = await world();
		const path = await file("tags.csv", `document_id,${cells}\n`);
		const argv = ["docs", "tag", path, "-d", "set", "--mode", "merge", "--json"];
		const dry = await ends(service.run(...argv, "--dry-run"), 0, { changes: 1 });
		expect(dry.stderr).toContain("warning: document doc-0 has a number that can't be kept exactly (key: tweet_id)");
		const { stderr } = await ends(service.run(...argv, "--only-changed"), 0, { updated: 1, undoable: false });
		expect(stderr.match(/can't be undone/g)?.length).toBeGreaterThan(0);
		expect(service.held.get("doc-0")).toEqual(left);
	});

	it("a policy does not compare it with the rounded number", async () => {
		const service = await world();
		await profilesIn(service.home, "{prod: {policy: {protected: [tweet_id]}}}");
		const path = await file("tags.csv", `document_id,owner,tweet_id:number\ndoc-0,Ann,${ROUNDED}\n`);
		const { exit, stdout } = await service.run("--profile", "prod", "docs", "tag", path, "-d", "set", "--json");
		expect([exit, updates(service)]).toEqual([9, []]);
		expect(stdout).toContain("POLICY_PROTECTED");
	});

	it("an invalid value that equals the rounded number is not accepted as already present", async () => {
		const service = await world();
		const schema = await file("schema.json", JSON.stringify({ properties: { tweet_id: { type: "string" } } }));
		const path = await file("tags.csv", `document_id,owner,tweet_id:number\ndoc-0,Ann,${ROUNDED}\n`);
		const argv = ["docs", "tag", path, "-d", "set", "--only-changed", "--schema", schema];
		expect([(await service.run(...argv)).exit, updates(service)]).toEqual([3, []]);
		// Where the service has just that, the row is as good as what is there.
		service.theirs.set(0, `{"tweet_id":${ROUNDED},"owner":"Ann"}`);
		expect((await service.run(...argv)).exit).toBe(0);
	});

	it("the same for a change of the list that contains it", async () => {
		const service = await world(['{"ids":[12345678901234567890]}']);
		const path = await file("tags.csv", "document_id,ids:list\ndoc-0,+x\n");
		await ends(service.run("docs", "tag", path, "-d", "set", "--mode", "merge", "--json"), 1, { failed: 1 });
		expect(updates(service)).toEqual([]);
	});
});

describe("an undo never restores a rounded number", () => {
	it.each([["replace"], ["replace", "--only-changed"]])("after %s %s", async (mode, more = "--rate=unlimited") => {
		const service = await world();
		const path = await file("tags.csv", "document_id,owner\ndoc-0,Eve\ndoc-1,Eve\n");
		const argv = ["docs", "tag", path, "-d", "set", "--mode", mode, more, "--json"];
		const { exit, stderr, stdout } = await service.run(...argv);
		expect([exit, service.held.get("doc-0")]).toEqual([0, { owner: "Eve" }]);
		expect(stderr.match(/warning: document doc-0 .*their rows can't be undone/g)).toHaveLength(1);
		const run = String(at(summaryOf(stdout), "run"));
		const journal = join(service.home, ".local", "state", "ragtag", "runs", run, "journal.log");
		expect(await readFile(journal, "utf8")).not.toContain(ROUNDED);
		await ends(service.run("runs", "undo", run, "--yes", "--json"), 1, { updated: 1, invalid: 1 });
		expect(service.held.get("doc-0")).toEqual({ owner: "Eve" });
		expect(service.held.get("doc-1")).toEqual({ owner: "Bob", n: 1 });
	});

	it("a verify does not take a number that another client wrote for the one of the run", async () => {
		const service = await world(['{"n":1}']);
		const path = await file("tags.csv", `document_id,n:number\ndoc-0,${ROUNDED}\n`);
		const { stdout } = await service.run("docs", "tag", path, "-d", "set", "--json");
		const verify = async (): Promise<unknown> =>
			summaryOf((await service.run("runs", "verify", String(at(summaryOf(stdout), "run")), "--json")).stdout);
		expect(await verify()).toMatchObject({ verify: { equal: 1, changed_since: 0 } });
		service.theirs.set(0, '{"n":12345678901234567890}');
		expect(await verify()).toMatchObject({ verify: { equal: 0, changed_since: 1 } });
	});

	it("it does not overwrite a number of another client that rounds to the one of the run", async () => {
		const service = await world(['{"n":1}']);
		const path = await file("tags.csv", `document_id,n:number\ndoc-0,${ROUNDED}\n`);
		const { stdout } = await service.run("docs", "tag", path, "-d", "set", "--json");
		const before = updates(service).length;
		service.theirs.set(0, '{"n":12345678901234567890}');
		const undone = await service.run("runs", "undo", String(at(summaryOf(stdout), "run")), "--yes", "--json");
		expect(summaryOf(undone.stdout)).toMatchObject({ failed: 1, updated: 0 });
		expect(undone.stdout).toContain('"CONFLICT"');
		expect(updates(service)).toHaveLength(before);
	});
});

describe("a plan over such a document", () => {
	const planning = async (service: RawWorld, mode: string, cells: string): Promise<{ out: string; made: Ended }> => {
		const out = join(await folder(), "plan.jsonl");
		const path = await file("tags.csv", `document_id,${cells}\n`);
		return { out, made: await service.run("docs", "plan", path, "-d", "set", "--mode", mode, "--out", out, "--json") };
	};

	it("is sent in replace mode, as the number is not sent", async () => {
		const service = await world();
		const { out, made } = await planning(service, "replace", "owner\ndoc-0,Eve");
		expect(made.stderr).toContain("can't be kept exactly");
		const { exit } = await service.run("docs", "apply", out);
		expect([exit, service.held.get("doc-0")]).toEqual([0, { owner: "Eve" }]);
	});

	it("is a conflict if the number has changed, though both round to the same", async () => {
		const service = await world();
		const { out } = await planning(service, "replace", "owner\ndoc-0,Eve");
		service.theirs.set(0, '{"tweet_id":12345678901234567891,"owner":"Ann"}');
		const { exit, stderr } = await service.run("docs", "apply", out);
		expect([exit, stderr, updates(service)]).toEqual([1, expect.stringContaining("was changed since"), []]);
	});

	it("made in merge mode says that the row would fail, and --force keeps no rounded number either", async () => {
		const service = await world(['{"owner":"Ann","n":1}']);
		const { out } = await planning(service, "merge", "owner\ndoc-0,Eve");
		service.theirs.set(0, '{"owner":"Ann","n":12345678901234567890}');
		const refused = await planning(service, "merge", "owner\ndoc-0,Eve");
		expect([refused.made.exit, refused.made.stdout]).toEqual([1, expect.stringContaining("INEXACT_NUMBER")]);
		const { exit, stdout } = await service.run("docs", "apply", out, "--force", "--json");
		expect([exit, stdout]).toEqual([1, expect.stringContaining("INEXACT_NUMBER")]);
		expect(updates(service)).toEqual([]);
	});
});

describe("a list shows every digit that the service has", () => {
	it.each(["jsonl", "json", "tsv", "table"])(
		"as %s, with a warning for the next reader of the output",
		async (format) => {
			const service = await world();
			const { exit, stdout, stderr } = await service.run("docs", "list", "-d", "set", "--format", format);
			expect(exit).toBe(0);
			expect(stdout).toContain("12345678901234567890");
			expect(stdout).not.toContain(ROUNDED);
			expect(stderr).toMatch(/warning: 1 document has numbers .*document doc-0, key tweet_id/);
		},
	);

	it("as a column of its own", async () => {
		const service = await world();
		const { stdout } = await service.run("docs", "list", "-d", "set", "--fields", "document_id,tweet_id");
		expect(stdout.split("\n").slice(0, 2)).toEqual(["document_id\ttweet_id", "doc-0\t12345678901234567890"]);
	});

	it("a filter finds it by its own digits, not by others", async () => {
		const service = await world();
		const list = async (where: string): Promise<readonly unknown[]> =>
			items(parseLines((await service.run("docs", "list", "-d", "set", "--json", "--where", where)).stdout));
		expect(await list("tweet_id=12345678901234567890")).toHaveLength(1);
		expect(await list(`tweet_id=${ROUNDED}`)).toEqual([]);
	});

	it("without a warning where nothing of it is shown, or nothing is lost", async () => {
		const service = await world();
		const { stderr } = await service.run("docs", "list", "-d", "set", "--fields", "document_id,owner");
		expect(stderr).not.toContain("warning");
		const exact = await world(['{"n":0.1,"m":1e3,"t":"12345678901234567890"}']);
		expect((await exact.run("docs", "list", "-d", "set")).stderr).not.toContain("warning");
	});

	it.each(["12345678901234567890", "[1,1e400]", "1e400", "0.1234567890123456789"])(
		"manifest init writes %s so that docs tag refuses it by line and column, and sends nothing",
		async (digits) => {
			const service = await world([`{"owner":"Ann","tweet_id":${digits}}`, '{"owner":"Bob"}']);
			const out = join(await folder(), "tags.csv");
			const ended = await service.run("manifest", "init", "-d", "set", "--out", out);
			await says(ended, 0, /warning: 1 document has numbers .*document doc-0, key tweet_id.*docs tag refuses/);
			const text = await readFile(out, "utf8");
			expect(text).toContain("owner,tweet_id:json\n");
			// Behind a bare number stands what keeps a spreadsheet from making a rounded one of it, which nobody would refuse.
			expect(text).toContain(digits.includes(",") ? `,"${digits}"\n` : `,"${digits}\t"\n`);
			const tagged = await service.run("docs", "tag", out);
			expect([tagged.exit, updates(service)]).toEqual([3, []]);
			expect(tagged.stderr).toContain(`${out}:2:`);
			const listed = await service.run("docs", "list", "-d", "set", "--format", "csv");
			expect(listed.stdout).toBe(text);
		},
	);
});
