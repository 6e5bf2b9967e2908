import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { flavours } from "../../src/sandbox/flavours/index.ts";
import { startBuiltSandbox } from "../support/built-sandbox.ts";
import { isExecutable, program, PROGRAM } from "../support/program.ts";
import { envOf, ragtag } from "../support/ragtag.ts";
import { file, folder, idOf } from "../support/service.ts";
import { parseLines, at, range, summaryOf } from "../support/values.ts";

/** Lists with the separators of Chinese, and with letters that are no separators. */
const TOPICS = [
	["关羽、孙权", "张辽"],
	["甲，乙", "丙；丁", "甲"],
	["São Paulo", "coração"],
	["🦊🚀", "naïve | façade"],
	["\u0085下\u001f", "上"],
	["True", true],
];

/** v1.0 takes no boolean, and trims no control characters, as Go's `strings.TrimSpace` does not. */
const TOPICS_IN_GO = [...TOPICS.slice(0, -2), ["\u0085下", "上"], ["True"]];

/** A user whose list has such a letter would get exit 6 for each run, and a CONFLICT from each undo. */
it.each(flavours)("lists in other letters are tagged, verified and undone: %s", async (flavour) => {
	const sandbox = await startBuiltSandbox(["--flavour", flavour, "--documents", String(TOPICS.length)]);
	const env = { ...envOf(sandbox), XDG_STATE_HOME: await folder() };
	// The built program is the same for all releases: one of them is enough for it.
	const command = flavour === "ragflow-0.27" ? program : (argv: readonly string[]) => ragtag(argv, { env });
	const ids = range(TOPICS.length, 1).map(idOf);
	const manifestOf = (name: string, metadata: (n: number) => object): Promise<string> => {
		const rows = ids.map((document_id, n) => JSON.stringify({ document_id, meta_fields: metadata(n) }));
		return file(name, rows.join("\n"));
	};
	// The same keys: v0.24.0 keeps those that an undo would remove.
	const earlier = await manifestOf("earlier.jsonl", (n) => ({ author: `Ann ${n}`, city: "Rome", topics: ["a"] }));
	const manifest = await manifestOf("名簿 São.jsonl", (n) => ({
		author: `Zoë 関羽 🦊 ${n}`,
		city: "São Paulo, 上海",
		topics: (flavour === "ragflow-1.0" ? TOPICS_IN_GO : TOPICS)[n],
	}));
	const dataset = ["-d", sandbox.dataset];
	const ran = async (argv: readonly string[], counts: object): Promise<void> => {
		const { exit, stdout, stderr } = await command([...argv, "--json"], env);
		expect({ exit, stderr, counts: summaryOf(stdout) }).toMatchObject({ exit: 0, counts });
	};
	const listed = async (): Promise<readonly unknown[]> => {
		const { stdout } = await command(["docs", "list", ...dataset, "--format", "jsonl"], env);
		return parseLines(stdout).map((document) => at(document, "meta_fields"));
	};
	await ran(["docs", "tag", earlier, ...dataset], { updated: TOPICS.length, failed: 0 });
	const before = await listed();
	await ran(["docs", "tag", manifest, ...dataset, "--verify", "all"], { updated: TOPICS.length, failed: 0 });
	await ran(["docs", "tag", manifest, ...dataset, "--only-changed"], { unchanged: TOPICS.length });
	const tagged = await listed();
	expect(tagged.map((metadata) => at(metadata, "city"))).toEqual(TOPICS.map(() => "São Paulo, 上海"));
	const splits = flavour >= "ragflow-0.24";
	expect(at(tagged[0], "topics")).toEqual(splits ? ["关羽", "孙权", "张辽"] : TOPICS[0]);
	expect(at(tagged[2], "topics")).toEqual(TOPICS[2]);
	// What Python's own `strip` and `str` make of these: written down by hand, as client and sandbox are to agree with it.
	if (splits) expect(at(tagged[4], "topics")).toEqual(["下", "上"]);
	if (flavour >= "ragflow-0.25") expect(at(tagged[5], "topics")).toEqual(["True"]);
	expect((await command(["runs", "verify"], env)).exit).toBe(0);
	await ran(["runs", "undo", "--yes"], { updated: TOPICS.length, failed: 0 });
	expect(await listed()).toEqual(before);
});

it.skipIf(isExecutable)("the built files are ASCII, so that no encoding can change the program", async () => {
	const dist = dirname(dirname(PROGRAM));
	const files = (await readdir(dist, { recursive: true })).filter((name) => name.endsWith(".js"));
	expect(files.length).toBeGreaterThan(3);
	for (const name of files) {
		const bytes = await readFile(join(dist, name));
		expect([name, bytes.findIndex((byte) => byte > 0x7f)]).toEqual([name, -1]);
	}
});
