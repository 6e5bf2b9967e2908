import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ends, says } from "../../support/ended.ts";
import type { Ended } from "../../support/ragtag.ts";
import { type RawWorld, rawWorld, updates } from "../../support/raw-world.ts";
import { file, folder, profilesIn } from "../../support/service.ts";
import { at, linesOf, parse, parseLines, range, summaryOf } from "../../support/values.ts";

const LONG = "12345678901234567890";
/** As a program that knows only doubles reads and writes it. */
const ROUNDED = "12345678901234567000";
const INEXACT = `{"tweet_id":${LONG},"owner":"Ann"}`;
/** What RAGFlow v0.12 to v0.23 lists once a script has sent NaN for an empty cell. */
const NOT_JSON = '{"pages":NaN,"owner":"Ann"}';
const OTHER = '{"owner":"Bob","n":1}';
const LISTED = [NOT_JSON, OTHER, '{"owner":"Cy","scores":[1,-Infinity]}'];

const tags = (rows: string): Promise<string> => file("tags.csv", `document_id,${rows}\n`);
const both = (): Promise<string> => tags("owner\ndoc-0,Eve\ndoc-1,Eve");
const merging = (path: string): string[] => ["docs", "tag", path, "-d", "set", "--mode", "merge", "--json"];
const runIn = ({ stdout }: Ended): string => String(at(summaryOf(stdout), "run"));

/** Values that no program can write back as they are: what the document has, its key, the code of a failed row, and why. */
const KINDS = [
	[INEXACT, "tweet_id", "INEXACT_NUMBER", "a number that can't be kept exactly"],
	[NOT_JSON, "pages", "NOT_JSON", "NaN "],
] as const;

describe.each(KINDS)("a document that has %s", (first, key, code, why) => {
	it.each([[[]], [["--only-changed"]], [["--dry-run"]]])(
		"fails its row of a merge, which names the key; nothing is sent for it, and the others go on: %j",
		async (more) => {
			const service = await rawWorld([first, OTHER]);
			const isDry = more.includes("--dry-run");
			const counts = { failed: 1, updated: isDry ? 0 : 1, changes: 1 };
			const { stdout } = await ends(service.run(...merging(await both()), ...more), 1, counts);
			expect(parseLines(stdout).filter((line) => at(line, "type") === "row")).toMatchObject([
				{ document_id: "doc-0", error_code: code, error: expect.stringContaining(`(key: ${key}); nothing was sent`) },
			]);
			expect(stdout).toContain(`document doc-0 has ${why}`);
			expect(new Set(updates(service))).toEqual(new Set(isDry ? [] : ["PUT /api/v1/datasets/set/documents/doc-1"]));
		},
	);

	it.each([[[]], [["--only-changed"]]])(
		"is replaced, with one warning and no record of the wrong value, and the undo leaves it alone and names it: %j",
		async (more) => {
			const service = await rawWorld([first, OTHER]);
			const tagged = await service.run("docs", "tag", await both(), "-d", "set", "--json", ...more);
			expect([tagged.exit, service.held.get("doc-0")]).toEqual([0, { owner: "Eve" }]);
			expect(tagged.stderr.match(/warning: document doc-0 .*their rows can't be undone/g)).toHaveLength(1);
			const run = runIn(tagged);
			const journal = join(service.home, ".local", "state", "ragtag", "runs", run, "journal.log");
			expect(await readFile(journal, "utf8")).not.toMatch(new RegExp(`${ROUNDED}|"pages"`));
			const undone = await ends(service.run("runs", "undo", run, "--yes", "--json"), 1, { updated: 1, invalid: 1 });
			expect(undone.stderr).toContain("1 row can't be undone, because their previous values are not known (doc-0)");
			expect([...service.held.values()]).toEqual([{ owner: "Eve" }, { owner: "Bob", n: 1 }]);
		},
	);
});

describe("a merge never writes a rounded number back", () => {
	it("the same where the dataset is listed into a file", async () => {
		const raw = range(40).map((n) => (n === 7 ? '{"a":[1,1e400]}' : `{"n":${n}}`));
		const service = await rawWorld(raw);
		const path = await tags(`owner\n${linesOf(40, (n) => `doc-${n},Eve`)}`);
		await ends(service.run(...merging(path)), 1, { failed: 1, updated: 39 });
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
		const service = await rawWorld([INEXACT]);
		const argv = merging(await tags(cells));
		const dry = await ends(service.run(...argv, "--dry-run"), 0, { changes: 1 });
		expect(dry.stderr).toContain("warning: document doc-0 has a number that can't be kept exactly (key: tweet_id)");
		const { stderr } = await ends(service.run(...argv, "--only-changed"), 0, { updated: 1, undoable: false });
		expect(stderr).toContain("can't be undone");
		expect(service.held.get("doc-0")).toEqual(left);
	});

	it("a policy does not compare it with the rounded number", async () => {
		const service = await rawWorld([INEXACT]);
		await profilesIn(service.home, "{prod: {policy: {protected: [tweet_id]}}}");
		const path = await tags(`owner,tweet_id:number\ndoc-0,Ann,${ROUNDED}`);
		const { exit, stdout } = await service.run("--profile", "prod", "docs", "tag", path, "-d", "set", "--json");
		expect([exit, updates(service)]).toEqual([9, []]);
		expect(stdout).toContain("POLICY_PROTECTED");
	});

	it("an invalid value that equals the rounded number is not accepted as already present", async () => {
		const service = await rawWorld([INEXACT]);
		const schema = await file("schema.json", JSON.stringify({ properties: { tweet_id: { type: "string" } } }));
		const path = await tags(`owner,tweet_id:number\ndoc-0,Ann,${ROUNDED}`);
		const argv = ["docs", "tag", path, "-d", "set", "--only-changed", "--schema", schema];
		expect([(await service.run(...argv)).exit, updates(service)]).toEqual([3, []]);
		// Where the service has just that, the row is as good as what is there.
		service.theirs.set(0, `{"tweet_id":${ROUNDED},"owner":"Ann"}`);
		expect((await service.run(...argv)).exit).toBe(0);
	});

	it("the same for a change of the list that contains it", async () => {
		const service = await rawWorld([`{"ids":[${LONG}]}`]);
		await ends(service.run(...merging(await tags("ids:list\ndoc-0,+x"))), 1, { failed: 1 });
		expect(updates(service)).toEqual([]);
	});
});

it("a number that another client wrote, and that rounds to the one of the run, is neither verified nor overwritten by an undo", async () => {
	const service = await rawWorld(['{"n":1}']);
	const run = runIn(await service.run("docs", "tag", await tags(`n:number\ndoc-0,${ROUNDED}`), "-d", "set", "--json"));
	const verify = ["runs", "verify", run, "--json"];
	await ends(service.run(...verify), 0, { verify: { equal: 1, changed_since: 0 } });
	const before = updates(service).length;
	service.theirs.set(0, `{"n":${LONG}}`);
	await ends(service.run(...verify), 0, { verify: { equal: 0, changed_since: 1 } });
	const undone = await ends(service.run("runs", "undo", run, "--yes", "--json"), 1, { failed: 1, updated: 0 });
	expect(undone.stdout).toContain('"CONFLICT"');
	expect(updates(service)).toHaveLength(before);
});

describe("a plan over such a document", () => {
	const planning = async (service: RawWorld, mode: string): Promise<{ out: string; made: Ended }> => {
		const out = join(await folder(), "plan.jsonl");
		const argv = ["docs", "plan", await tags("owner\ndoc-0,Eve"), "-d", "set", "--mode", mode, "--out", out, "--json"];
		return { out, made: await service.run(...argv) };
	};

	it("is sent in replace mode, as the number is not sent", async () => {
		const service = await rawWorld([INEXACT]);
		const { out, made } = await planning(service, "replace");
		expect(made.stderr).toContain("can't be kept exactly");
		const { exit } = await service.run("docs", "apply", out);
		expect([exit, service.held.get("doc-0")]).toEqual([0, { owner: "Eve" }]);
	});

	it("is a conflict if the number has changed, though both round to the same", async () => {
		const service = await rawWorld([INEXACT]);
		const { out } = await planning(service, "replace");
		service.theirs.set(0, '{"tweet_id":12345678901234567891,"owner":"Ann"}');
		await says(service.run("docs", "apply", out), 1, "was changed since");
		expect(updates(service)).toEqual([]);
	});

	it("made in merge mode says that the row would fail, and --force keeps no rounded number either", async () => {
		const service = await rawWorld(['{"owner":"Ann","n":1}']);
		const { out } = await planning(service, "merge");
		service.theirs.set(0, `{"owner":"Ann","n":${LONG}}`);
		const { made } = await planning(service, "merge");
		for (const { exit, stdout } of [made, await service.run("docs", "apply", out, "--force", "--json")]) {
			expect([exit, stdout]).toEqual([1, expect.stringContaining("INEXACT_NUMBER")]);
		}
		expect(updates(service)).toEqual([]);
	});
});

describe("a list shows such values as the service has them", () => {
	type Shown = readonly [what: string, format: string, raw: string[], shown: string[], warning: RegExp];
	const LONGS = /1 document has numbers .*document doc-0, key tweet_id/;
	const NANS = /2 documents have NaN .*doc-0, key pages; document doc-2, key scores/;
	it.each<Shown>([
		...["table", "tsv", "json", "jsonl"].map((format): Shown => ["a long number", format, [INEXACT], [LONG], LONGS]),
		["NaN", "table", LISTED, ["Ann    NaN  ", "[1,-Infinity]  doc-2"], NANS],
		["NaN", "tsv", LISTED, [NOT_JSON, '"scores":[1,-Infinity]'], NANS],
	])("%s as %s, with a warning for the next reader of the output", async (_, format, raw, shown, warning) => {
		const service = await rawWorld(raw);
		const { stdout } = await says(service.run("docs", "list", "-d", "set", "--format", format), 0, warning);
		for (const text of shown) expect(stdout).toContain(text);
		expect(stdout).not.toContain(ROUNDED);
	});

	it.each(["json", "jsonl"])("as %s, which stays JSON: NaN is next to the metadata, as text", async (format) => {
		const service = await rawWorld(LISTED);
		const { stdout } = await says(service.run("docs", "list", "-d", "set", "--format", format), 0, 'in "not_json"');
		expect(format === "json" ? parse(stdout) : parseLines(stdout)).toEqual([
			expect.objectContaining({ meta_fields: { owner: "Ann" }, not_json: { pages: "NaN" } }),
			expect.not.objectContaining({ not_json: expect.anything() }),
			expect.objectContaining({ meta_fields: { owner: "Cy" }, not_json: { scores: "[1,-Infinity]" } }),
		]);
		// Fed back it would remove the keys without a word.
		await says(service.run("docs", "tag", await file("list.json", stdout), "-d", "set"), 3, "not_json");
		expect(updates(service)).toEqual([]);
	});

	it.each([
		["a long number", [INEXACT, OTHER], "tweet_id", LONG],
		["NaN", [NOT_JSON, OTHER], "pages", "NaN"],
		["NaN of a service that keeps metadata as JSON text", ['"{\\"pages\\": NaN}"', OTHER], "pages", "NaN"],
	])("%s in a column of its own, and found by a filter", async (_, raw, key, text) => {
		const service = await rawWorld(raw);
		const list = async (...flags: string[]): Promise<string> =>
			(await service.run("docs", "list", "-d", "set", ...flags)).stdout;
		expect(await list("--fields", `document_id,${key}`)).toBe(`document_id\t${key}\ndoc-0\t${text}\ndoc-1\t\n`);
		expect(parseLines(await list("--json", "--where", `${key}=${text}`))).toHaveLength(1);
		expect(await list("--json", "--where", `${key}=${ROUNDED}`)).toBe("");
	});

	it("without a warning where nothing of it is shown, or nothing is lost", async () => {
		const exact = '{"n":0.1,"m":1e3,"t":"12345678901234567890"}';
		for (const [raw, fields] of [
			[INEXACT, "document_id,owner"],
			[exact, "document_id,n,m,t"],
		] as const) {
			const { stderr } = await (await rawWorld([raw])).run("docs", "list", "-d", "set", "--fields", fields);
			expect(stderr).not.toContain("warning");
		}
	});
});

describe("manifest init", () => {
	const initialised = async (service: RawWorld): Promise<Ended & { out: string; text: string }> => {
		const out = join(await folder(), "tags.csv");
		const made = await service.run("manifest", "init", "-d", "set", "--out", out);
		expect(made.exit).toBe(0);
		return { ...made, out, text: await readFile(out, "utf8") };
	};

	it.each([LONG, "[1,1e400]", "1e400", "0.1234567890123456789"])(
		"writes %s so that docs tag refuses it by line and column, and sends nothing",
		async (digits) => {
			const service = await rawWorld([`{"owner":"Ann","tweet_id":${digits}}`, '{"owner":"Bob"}']);
			const { out, text, stderr } = await initialised(service);
			expect(stderr).toMatch(/warning: 1 document has numbers .*document doc-0, key tweet_id.*docs tag refuses/);
			expect(text).toContain("owner,tweet_id:json\n");
			// A mark after a bare number keeps a spreadsheet from rounding it. A rounded number could not be recognised later.
			expect(text).toContain(digits.includes(",") ? `,"${digits}"\n` : `,"${digits}\t"\n`);
			await says(service.run("docs", "tag", out), 3, `${out}:2:`);
			expect(updates(service)).toEqual([]);
			expect((await service.run("docs", "list", "-d", "set", "--format", "csv")).stdout).toBe(text);
		},
	);

	it("leaves a key out that is NaN, and reports it; the unedited file changes nothing else", async () => {
		const service = await rawWorld([NOT_JSON, '{"owner":"Bob","pages":3}']);
		const { out, text, stderr } = await initialised(service);
		expect(text).toBe(
			"document_id,dataset_id,name,owner,pages:number\ndoc-0,set,doc-0.txt,Ann,\ndoc-1,set,doc-1.txt,Bob,3\n",
		);
		expect(stderr).toMatch(/warning: 1 document has NaN .*document doc-0, key pages.*left empty/);
		const dry = await service.run("docs", "tag", out, "--dry-run", "--json");
		expect(parseLines(dry.stdout).filter((line) => at(line, "type") === "change")).toEqual([
			expect.objectContaining({ document_id: "doc-0", add: {}, change: {}, remove: { pages: "NaN" } }),
		]);
		const merged = await ends(service.run(...merging(out), "--only-changed"), 1, { failed: 1, unchanged: 1 });
		expect(merged.stdout).toContain('"NOT_JSON"');
		const { exit } = await service.run("docs", "tag", out, "--only-changed");
		expect([exit, service.held.get("doc-0"), service.held.get("doc-1")]).toEqual([0, { owner: "Ann" }, {}]);
	});

	it("writes a list that contains one so that docs tag refuses the cell: the other items would be lost", async () => {
		const service = await rawWorld(LISTED);
		const { out, text } = await initialised(service);
		expect(text).toContain('"[1,-Infinity]"');
		await says(service.run("docs", "tag", out), 3, `${out}:4:`);
		expect(updates(service)).toEqual([]);
	});
});

describe("a dataset with NaN in it", () => {
	it.each([[[]], [["--mode", "merge"]]])("is read by a dry run, with %j", async (more) => {
		const service = await rawWorld(LISTED);
		const argv = ["docs", "tag", await tags("owner\ndoc-1,Eve"), "-d", "set", "--dry-run", "--json", ...more];
		await ends(service.run(...argv), 0, { changes: 1, failed: 0 });
	});

	it("loses a document that is removed, and no other", async () => {
		const service = await rawWorld(LISTED);
		const { exit } = await service.run("docs", "rm", "-d", "set", "--id", "doc-0", "--yes");
		expect([exit, Array.from(service.held.keys())]).toEqual([0, ["doc-1", "doc-2"]]);
	});
});
