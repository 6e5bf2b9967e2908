import { describe, expect, it } from "vitest";
import { envOf, ragtag } from "../../support/ragtag.ts";
import { file, folder, profilesIn, serve } from "../../support/service.ts";
import { at, parseLines } from "../../support/values.ts";

/** What a shell is given at the end of a line: the values, and the word for what else it may offer. */
async function offered(
	words: readonly string[],
	world: Parameters<typeof ragtag>[1] = {},
): Promise<{ readonly values: string[]; readonly descriptions: string[]; readonly others: string | undefined }> {
	const { exit, stdout, stderr } = await ragtag(["__complete", ...words], world);
	expect([exit, stderr]).toEqual([0, ""]);
	const lines = stdout.trimEnd().split("\n");
	const others = lines.pop();
	const cells = lines.map((line) => line.split("\t"));
	return { values: cells.map(([value = ""]) => value), descriptions: cells.map((cell) => cell[1] ?? ""), others };
}

describe("words of the tree", () => {
	it.each<[string[], string[], string]>([
		[["ma"], ["manifest"], ":none"],
		[["docs", "t"], ["tag"], ":none"],
		[["docs", "tag", "--mode", ""], ["replace", "merge"], ":none"],
		[["docs", "tag", "--mode=m"], ["--mode=merge"], ":none"],
		[["docs", "tag", "x.csv", "--verify", "s"], ["sample"], ":none"],
		[["completion", "f"], ["fish"], ":none"],
		// A value is no command, and an option's value is not offered options.
		[["docs", "tag", "--set", "list", "--mode", "r"], ["replace"], ":none"],
		[["docs", "tag", "--set", ""], [], ":none"],
		[["docs", "tag", "t"], [], ":files"],
		[["docs", "tag", "tags.csv", ""], [], ":none"],
		[["docs", "upload", "one.pdf", ""], [], ":files"],
		[["docs", "tag", "--failed", ""], [], ":files"],
		[["docs", "tag", "--failed=f"], [], ":files"],
		[["docs", "upload", "--files-root", ""], [], ":folders"],
		[["--state-dir", ""], [], ":folders"],
		[["--profile", "prod", "docs", "r"], ["resolve", "rm"], ":none"],
		[["--profile", "runs", "docs", "r"], ["resolve", "rm"], ":none"],
		[["docs", "rm", "--id", "a", "b", "--ye"], ["--yes"], ":none"],
		[["docs", "tag", "--", "--m"], [], ":files"],
		[["no", "such", ""], [], ":none"],
		[["docs", "tag", "--no-such=x"], [], ":none"],
	])("%j", async (words, values, others) => {
		expect(await offered(words)).toMatchObject({ values, others });
	});

	it("an option is not offered again, unless it is repeatable", async () => {
		const { values } = await offered(["docs", "tag", "--mode", "merge", "--set", "a=b", "--"]);
		expect(values).toEqual(expect.arrayContaining(["--set", "--failed", "--base-url", "--help"]));
		expect(values).not.toContain("--mode");
	});

	it("each command and each option has a description, of one line", async () => {
		for (const words of [[""], ["docs", ""], ["runs", ""], ["docs", "tag", "--"], ["docs", "upload", "--"]]) {
			const { descriptions } = await offered(words);
			expect(descriptions.length).toBeGreaterThan(3);
			expect(descriptions.filter((text) => text === "")).toEqual([]);
		}
	});

	it("commands that are not for people are not offered", async () => {
		expect((await offered([""])).values).not.toContain("__complete");
	});
});

describe("values from this machine", () => {
	it("names of datasets come from the last list, without a request", async () => {
		const service = await serve();
		const home = await folder();
		const env = envOf(service);
		expect((await ragtag(["datasets", "create", "Press 2026"], { env, home })).exit).toBe(0);
		expect((await offered(["docs", "list", "-d", ""], { env, home })).values).toEqual([]);
		const listed = await ragtag(["datasets", "list", "--format", "jsonl"], { env, home });
		expect(listed.exit).toBe(0);
		const names = parseLines(listed.stdout).map((line) => at(line, "name"));
		expect(names).toContain("Press 2026");
		const before = service.requests.length;
		const { values } = await offered(["docs", "list", "--dataset", ""], { env, home });
		expect(values).toEqual(names);
		expect(service.requests).toHaveLength(before);
		// Another address has its own.
		const elsewhere = await offered(["docs", "list", "-d", ""], {
			env: { ...env, RAGTAG_BASE_URL: "http://127.0.0.1:1" },
			home,
		});
		expect(elsewhere.values).toEqual([]);
	});

	it("profiles come from config.yaml, and a broken one offers none", async () => {
		const home = await folder();
		await profilesIn(home, "{prod: {base_url: 'https://rag.example.com'}, test: {rate: 5}}");
		expect((await offered(["--profile", ""], { home })).values).toEqual(["prod", "test"]);
		await profilesIn(home, "[");
		expect((await offered(["--profile", ""], { home })).values).toEqual([]);
	});

	it("runs are offered with command and manifest; runs resume offers only unfinished ones", async () => {
		const service = await serve();
		const [id = ""] = await service.ids();
		const home = await folder();
		const env = envOf(service);
		const manifest = await file("tags.csv", `document_id,author\n${id},Ana\n`);
		expect((await ragtag(["docs", "tag", manifest, "-d", service.dataset], { env, home })).exit).toBe(0);
		const { values, descriptions } = await offered(["runs", "show", ""], { env, home });
		expect(values).toHaveLength(1);
		expect(descriptions[0]).toMatch(/^docs tag .*tags\.csv$/);
		expect((await offered(["runs", "resume", ""], { env, home })).values).toEqual([]);
	});
});
