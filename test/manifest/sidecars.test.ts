import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Exit } from "../../src/errors.ts";
import { checkSidecars } from "../../src/manifest/sidecars/check.ts";
import type { ManifestOptions, Problem, Row } from "../../src/manifest/types.ts";
import { folder } from "../support/service.ts";
import { TAG } from "./support.ts";

/** A folder of these files. */
async function filled(files: Readonly<Record<string, string>>): Promise<string> {
	const path = await folder();
	for (const [name, content] of Object.entries(files)) {
		await mkdir(join(path, name, ".."), { recursive: true });
		await writeFile(join(path, name), content);
	}
	return path;
}

async function read(paths: readonly string[], options: Partial<ManifestOptions> = {}) {
	const problems: Problem[] = [];
	const checked = await checkSidecars(
		paths,
		{ ...TAG, purpose: "resolve", ...options },
		{ onProblem: (problem) => problems.push(problem) },
	);
	const rows: Row[] = [];
	for await (const row of checked.read()) rows.push(row);
	const places = problems.map(({ file, line, column, code }) => `${file}:${line}:${column} ${code}`);
	return {
		checked,
		places,
		problems,
		rows: rows.map(({ nameReference, metadata }) => [nameReference?.name, Array.from(metadata)]),
	};
}

test("each file of a folder has the metadata of its own sidecar, whatever the members are called", async () => {
	const path = await filled({
		"b.txt": "",
		"b.txt.meta.json": '{\n  "name": "k", "document_id": 7, "list": ["x"]\n}',
		"a.pdf": "",
		"a.pdf.meta.json": '\ufeff{"meta_fields": {"author": "Zoë", "name": "n"}, "name": "other.pdf", "size": 3}',
		".hidden": "",
		"more/c.txt": "",
	});
	const { rows, places, checked } = await read([path]);
	expect(places).toEqual([]);
	expect(rows).toEqual([
		[
			"a.pdf",
			[
				["author", "Zoë"],
				["name", "n"],
			],
		],
		[
			"b.txt",
			[
				["name", "k"],
				["document_id", 7],
				["list", ["x"]],
			],
		],
	]);
	expect(checked).toMatchObject({ rows: 2, folders: 1, problems: 0 });
});

test("`folder/*` names files and sidecars, and each file is one row", async () => {
	const path = await filled({
		"a.txt": "",
		"a.txt.meta.json": "{}",
		"b.meta.json.txt": "",
		"b.meta.json.txt.meta.json": "{}",
	});
	const all = ["a.txt", "a.txt.meta.json", "b.meta.json.txt", "b.meta.json.txt.meta.json"].map((name) =>
		join(path, name),
	);
	expect((await read(all)).rows).toEqual([
		["a.txt", []],
		["b.meta.json.txt", []],
	]);
});

test("a file without a sidecar, a sidecar without a file and a bad one are named, all at once", async () => {
	const path = await filled({
		"alone.txt": "",
		"bad.txt": "",
		"bad.txt.meta.json": '{\n "a": 1,\n "b" 2}',
		"date.txt": "",
		"date.txt.meta.json": '{"a":1,\n"publish_date":"soon"}',
		"gone.txt.meta.json": "{}",
		"list.txt": "",
		"list.txt.meta.json": "[]",
		"typo.txt": "",
		"typo.txt.meta.json": '{"metafields":{}}',
		"utf.txt": "",
		"utf.txt.meta.json": "{}",
	});
	await writeFile(join(path, "utf.txt.meta.json"), Buffer.from([0x7b, 0xff, 0x7d, 0x20, 0x20]));
	const { places, checked, rows } = await read([path]);
	expect(places).toEqual([
		`${path}/gone.txt.meta.json:1:1 NO_FILE`,
		`${path}/alone.txt:1:1 NO_SIDECAR`,
		`${path}/bad.txt.meta.json:3:6 BAD_JSON`,
		`${path}/date.txt.meta.json:2:16 BAD_DATE`,
		`${path}/list.txt.meta.json:1:1 BAD_JSON`,
		`${path}/typo.txt.meta.json:1:2 UNKNOWN_MEMBER`,
		`${path}/utf.txt.meta.json:1:2 ENCODING`,
	]);
	expect(checked).toMatchObject({ rows: 7, invalid: 7, problems: 7, fatal: false });
	expect(rows).toEqual([]);
});

test("two files of one name are one document: other values are a problem, or the last one wins", async () => {
	const path = await filled({
		"x/a.txt": "",
		"x/a.txt.meta.json": '{"n":1}',
		"y/a.txt": "",
		"y/a.txt.meta.json": '{"n":2}',
		"z/a.txt": "",
		"z/a.txt.meta.json": '{"n":1}',
	});
	const [x, y, z] = ["x", "y", "z"].map((name) => join(path, name)) as [string, string, string];
	expect((await read([x, y])).places).toEqual([`${y}/a.txt:1:1 DUPLICATE`]);
	expect((await read([x, z])).rows).toEqual([["a.txt", [["n", 1]]]]);
	expect((await read([x, y], { onDuplicate: "first" })).rows).toEqual([["a.txt", [["n", 1]]]]);
	expect((await read([x, y], { onDuplicate: "last" })).rows).toEqual([["a.txt", [["n", 2]]]]);
});

test("--map, --ignore and --set hold for sidecars, and a member that none has is named", async () => {
	const path = await filled({ "a.txt": "", "a.txt.meta.json": '{"old":1,"junk":2}' });
	const options = { map: new Map([["old", "new"]]), ignore: new Set(["junk"]), set: new Map([["s", "v"]]) };
	expect((await read([path], options)).rows).toEqual([
		[
			"a.txt",
			[
				["new", 1],
				["s", "v"],
			],
		],
	]);
	const { places, checked } = await read([path], { ignore: new Set(["junc"]) });
	expect([places, checked.fatal]).toEqual([[`${path}:1:1 NO_SUCH_COLUMN`], true]);
});

test("an argument that is not there is wrong usage; a sidecar that changes after the check is exit 8", async () => {
	const path = await filled({ "a.txt": "", "a.txt.meta.json": "{}" });
	await expect(read([join(path, "b.txt")])).rejects.toMatchObject({ exit: Exit.usage });
	const options = { ...TAG, purpose: "resolve" as const };
	for (const change of [
		() => writeFile(join(path, "a.txt.meta.json"), '{"n":1}'),
		() => rm(join(path, "a.txt.meta.json")),
	]) {
		const checked = await checkSidecars([path], options, { onProblem: () => undefined });
		await change();
		await expect(async () => {
			for await (const row of checked.read()) expect(row).toBeUndefined();
		}).rejects.toMatchObject({ exit: Exit.foreign });
	}
});
