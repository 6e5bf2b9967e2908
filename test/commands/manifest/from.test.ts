import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { recorded } from "../../support/recorded.ts";
import { ragtag } from "../../support/ragtag.ts";
import { folder } from "../../support/service.ts";
import { parseLines } from "../../support/values.ts";

const PATTERN = ["--pattern", "{category}/{year:number}_{title}.pdf"];

/** A folder with these files. */
async function tree(files: Readonly<Record<string, string>>): Promise<string> {
	const root = await folder();
	for (const [path, text] of Object.entries(files)) {
		await mkdir(dirname(join(root, path)), { recursive: true });
		await writeFile(join(root, path), text);
	}
	return root;
}

const PAPERS = {
	"hr/2023_Pay.pdf": "pay",
	"hr/2023_Pay.pdf.meta.json": '{"author":"Ana","title":"Pay scale"}',
	"hr/2024_Leave.pdf": "leave",
	"it/vpn.md": '---\ntitle: "VPN"\ntags: [net, home]\ndate: 2024-01-02\nopen: true\n---\n# VPN\n',
} as const;

describe("a manifest from files", () => {
	it("uploads them with all that they say of themselves, in its type", async () => {
		const { service, run } = await recorded(0, { flavour: "ragflow-0.25" });
		const root = await tree(PAPERS);
		const out = join(root, "files.csv");
		const made = await run(["manifest", "from", root, ...PATTERN, "--facts", "size", "--out", out]);
		expect([made.exit, made.stdout]).toEqual([0, ""]);
		expect(made.stderr).toContain("1 file does not match --pattern, and has no keys of it: it/vpn.md");
		const { exit } = await run(["docs", "upload", out, "-d", service.dataset]);
		const held = (await service.documents()).map(({ name, metadata }) => [name, metadata]);
		expect([exit, Object.fromEntries(held)]).toEqual([
			0,
			{
				"hr/2023_Pay.pdf": { size: 3, category: "hr", year: 2023, title: "Pay scale", author: "Ana" },
				"hr/2024_Leave.pdf": { size: 5, category: "hr", year: 2024, title: "Leave" },
				"it/vpn.md": {
					size: PAPERS["it/vpn.md"].length,
					title: "VPN",
					tags: ["net", "home"],
					date: "2024-01-02",
					open: true,
				},
			},
		]);
	});

	it("says where each value comes from", async () => {
		const root = await tree(PAPERS);
		const { stdout } = await ragtag(["manifest", "from", root, ...PATTERN, "--explain", "--include", "hr/2023*"]);
		expect(stdout).toBe(
			"hr/2023_Pay.pdf\tcategory\thr\tpattern\nhr/2023_Pay.pdf\tyear\t2023\tpattern\nhr/2023_Pay.pdf\ttitle\tPay scale\tsidecar\nhr/2023_Pay.pdf\tauthor\tAna\tsidecar\n",
		);
	});

	it("reads a sidecar that is named beside its file, as docs upload does", async () => {
		const root = await tree(PAPERS);
		const file = join(root, "hr/2023_Pay.pdf");
		const { stdout } = await ragtag(["manifest", "from", file, `${file}.meta.json`]);
		expect(stdout.split("\n").map((line) => line.split(",").slice(1))).toEqual([
			["name", "author", "title"],
			["2023_Pay.pdf", "Ana", "Pay scale"],
			[],
		]);
	});

	it("needs the sidecar that is named beside its file", async () => {
		const root = await tree({ "a.txt": "a", "b.txt": "b", "b.txt.meta.json": "{}" });
		const paths = ["a.txt", "a.txt.meta.json", "b.txt", "b.txt.meta.json"].map((name) => join(root, name));
		const { exit, stdout, stderr } = await ragtag(["manifest", "from", ...paths]);
		expect([exit, stdout]).toEqual([3, ""]);
		expect(stderr).toContain(`${paths[0]}:1:1: has no sidecar: there is no ${paths[1]}\nragtag: 1 problem;`);
	});

	it("lists what looks like the sidecar of a folder", async () => {
		const root = await tree({ "hr/a.txt": "a", "hr.meta.json": "{}" });
		const { stdout } = await ragtag(["manifest", "from", join(root, "hr"), join(root, "hr.meta.json")]);
		expect(stdout.split("\n").map((line) => line.split(",")[1])).toEqual(["name", "a.txt", "hr.meta.json", undefined]);
	});

	it("has only the keys that were asked for", async () => {
		const root = await tree(PAPERS);
		const argv = ["manifest", "from", root, ...PATTERN, "--keys", "title,author", "--exclude", "it"];
		const { stdout } = await ragtag(argv);
		expect(stdout.split("\n")[0]).toBe("file,name,title,author");
	});

	it("names the folder that its paths count from, where the files lie elsewhere", async () => {
		const { service, run } = await recorded(0, { flavour: "ragflow-0.25" });
		const root = await tree({ "a.txt": "a", "b/c.txt": "c" });
		const out = join(await folder(), "files.csv");
		const { stderr } = await run(["manifest", "from", root, "--out", out]);
		expect(stderr).toContain(`ragtag docs upload ${out} -d DATASET --files-root ${root}`);
		const { exit } = await run(["docs", "upload", out, "-d", service.dataset, "--files-root", root]);
		expect([exit, (await service.documents()).map(({ name }) => name).toSorted()]).toEqual([0, ["a.txt", "b/c.txt"]]);
	});
});

describe("is not written, as a row would lose its values,", () => {
	it.each<[string, Record<string, string>, string[], number, object]>([
		["where one is no YAML", { "a.md": "---\nb: [1\n---\n" }, [], 3, { line: 2, error_code: "BAD_FRONT_MATTER" }],
		[
			"where a path does not match and --strict is given",
			{ "a.txt": "" },
			[...PATTERN, "--strict"],
			3,
			{ error_code: "NO_MATCH" },
		],
		[
			"where a part of the path has another type",
			{ "hr/x_a.pdf": "" },
			PATTERN,
			3,
			{ field: "year", error_code: "BAD_NUMBER" },
		],
		["where a sidecar is no JSON", { "a.txt": "", "a.txt.meta.json": "{" }, [], 3, { error_code: "BAD_JSON" }],
		["where a path is not there", { "a.txt": "" }, ["nowhere.txt"], 2, { file: "nowhere.txt", error_code: "BAD_FILE" }],
	])("%s", async (_, files, more, exit, problem) => {
		const root = await tree(files);
		const out = join(await folder(), "files.csv");
		const result = await ragtag(["manifest", "from", root, ...more, "--json", "--out", out]);
		expect([result.exit, parseLines(result.stdout)]).toMatchObject([exit, [{ type: "problem", ...problem }]]);
		await expect(readFile(out)).rejects.toThrow("ENOENT");
	});

	it.each([
		["where there are no files", [], 3],
		["where two files would need one place for what is printed", ["--explain", "--json"], 2],
		["without a pattern that could be strict", ["--strict"], 2],
	])("%s", async (_, more, exit) => {
		const { exit: code, stdout } = await ragtag(["manifest", "from", await folder(), ...more]);
		expect([code, stdout]).toEqual([exit, ""]);
	});
});
