import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Exit } from "../../src/errors.ts";
import { readSchema } from "../../src/manifest/rows/schema.ts";
import { valueFaults } from "../../src/manifest/rows/values.ts";
import { check, checkBytes, file, withFolder } from "./support.ts";

describe("built-in checks", () => {
	test.each([
		["2024-02-29", true],
		["2023-02-29", false],
		["1900-02-29", false],
		["2000-02-29", true],
		["0000-01-01", false],
		["2023-13-01", false],
		["2023-04-31", false],
		["2023-4-1", false],
		["02023-04-01", false],
		["2023-04-01T00:00", false],
	])("publish_date %s", async (date, isGood) => {
		expect((await checkBytes(`document_id,publish_date\n1,${date}\n`)).checked.problems).toBe(isGood ? 0 : 1);
	});

	test.each([
		["https://example.org/a?b#c", true],
		["ftp://example.org", true],
		["mailto:a@example.org", true],
		["javascript:alert(1)", true],
		["www.example.org", false],
		["example.org:80/x", false],
		["//example.org", false],
		["/a/b", false],
		["http:///x", false],
		["http:example.org", false],
		["https://a b", false],
		["C:\\x", false],
	])("url %s", async (url, isGood) => {
		expect((await checkBytes(`document_id,url\n1,${url}\n`)).checked.problems).toBe(isGood ? 0 : 1);
	});

	test("an address that is plain is one that every parser reads", () => {
		const parts = "http HTTPS :// : / \\ ? # @ a b-c -- xn 1 0x1 . %41 é [::1] _".split(" ");
		const part = fc.constantFrom(...parts, " ", "\n");
		let plain = 0;
		fc.assert(
			fc.property(
				fc.oneof(
					fc.webUrl(),
					fc.array(part).map((parts) => `http://a${parts.join("")}`),
					fc.array(part).map((parts) => parts.join("")),
				),
				(text) => {
					if (valueFaults(new Map([["url", text]]), undefined).length > 0) return;
					plain += 1;
					expect(text).not.toMatch(/[\s\p{Cc}]/u);
					expect(new URL(text).protocol).toMatch(/^[a-z]/);
				},
			),
			{ numRuns: 5_000 },
		);
		// Otherwise the property would say nothing.
		expect(plain).toBeGreaterThan(500);
	});

	test("--schema none turns them off, and rm checks no metadata", async () => {
		const text = "document_id,publish_date\n1,soon\n";
		expect((await checkBytes(text, { schema: "none" })).problems).toEqual([]);
		expect((await checkBytes(text, { purpose: "rm" })).problems).toEqual([]);
	});
});

describe("a schema", () => {
	const schema = {
		type: "object",
		required: ["title"],
		properties: { year: { type: "integer" }, mail: { type: "string", format: "email" } },
	};
	test.each([[undefined], ["http://json-schema.org/draft-07/schema#"]])(
		"finds all faults of a row (%s)",
		async ($schema) => {
			const { places, problems } = await checkBytes("document_id,year:number,mail,publish_date\n1,1.5,x,nope\n", {
				schema: $schema === undefined ? schema : { ...schema, $schema },
			});
			expect(new Set(places)).toEqual(new Set(["2:9 BAD_DATE", "2:1 SCHEMA", "2:3 SCHEMA", "2:7 SCHEMA"]));
			expect(problems.map(({ field }) => field)).toContain("title");
		},
	);

	test("that is wrong itself is wrong usage", async () => {
		await expect(checkBytes("document_id\n1\n", { schema: { type: "nonsense" } })).rejects.toMatchObject({
			exit: Exit.usage,
		});
		await withFolder(async (folder) => {
			await expect(readSchema(join(folder, "none.json"))).rejects.toMatchObject({ exit: Exit.usage });
			await expect(readSchema(await file(folder, "s.json", '{"a":}'))).rejects.toMatchObject({ exit: Exit.usage });
			expect(await readSchema(await file(folder, "t.json", '{"type":"object"}'))).toEqual({ type: "object" });
		});
		expect(await readSchema("none")).toBe("none");
	});
});

test("an upload can name files below the manifest alone", async () => {
	await withFolder(async (folder) => {
		const inner = join(folder, "inner");
		await mkdir(join(inner, "sub"), { recursive: true });
		await file(folder, "secret.txt", "s");
		await file(inner, "sub/a b.txt", "a");
		await symlink("../secret.txt", join(inner, "link.txt"));
		const manifest = await file(
			inner,
			"m.csv",
			"file,name,k\nsub/a b.txt,,v\nsub/a b.txt,other.txt,v\n../secret.txt,,v\nlink.txt,,v\nsub,,v\nnone.txt,,v\n,,v\nsub/a b.txt,../x,v\n",
		);
		const { rows, places, checked } = await check(manifest, { purpose: "upload" });
		expect(rows.map((row) => row.file?.name)).toEqual(["a b.txt", "other.txt"]);
		expect(rows[0]?.file?.path.endsWith("inner/sub/a b.txt")).toBe(true);
		expect(places).toEqual([
			"4:1 BAD_FILE",
			"5:1 BAD_FILE",
			"6:1 BAD_FILE",
			"7:1 BAD_FILE",
			"8:1 BAD_FILE",
			"9:13 BAD_NAME",
		]);
		expect(checked.invalid).toBe(6);
		expect((await check(manifest, { purpose: "upload", filesRoot: folder })).checked.invalid).toBe(7 + 1);
	});
});
