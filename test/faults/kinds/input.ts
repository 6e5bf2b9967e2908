import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect } from "vitest";
import { program, shell } from "../../support/program.ts";
import type { Ended } from "../../support/ragtag.ts";
import { folder } from "../../support/service.ts";
import { at, range, summaryOf } from "../../support/values.ts";
import { idOf, planned, withoutKeyIn } from "../rig/trial.ts";
import { section } from "../table.ts";

type Fed = Ended & {
	/** what the server applied: the metadata, by document */
	readonly applied: ReadonlyMap<string, unknown>;
	/** updates that were applied, each counted */
	readonly writes: number;
};

/** Feeds a manifest to the program and asks the server what came of it. Exits 2 and 3 mean no request at all. */
async function feed(manifest: string | Uint8Array, args: readonly string[] = [], name = "tags.csv"): Promise<Fed> {
	const path = join(await folder(), name);
	await writeFile(path, manifest);
	return feedPath(path, args);
}

async function feedPath(path: string, args: readonly string[] = []): Promise<Fed> {
	const { control, dataset, state, env } = await planned("documented");
	const argv = ["docs", "tag", "-d", dataset, "--json", "--rate", "5000", "--state-dir", state, ...args];
	const ended = await program([...argv, "--", path], env);
	await withoutKeyIn(ended, state);
	const { requests } = control.counts();
	if (ended.exit === 2 || ended.exit === 3) expect(requests).toBe(0);
	const applied = new Map(
		control
			.ledger()
			.flatMap((entry) => (entry.type === "applied" ? [[String(entry.document), entry.meta_fields]] : [])),
	);
	if (ended.exit !== 2) {
		const summary = summaryOf(ended.stdout);
		expect(at(summary, "exit_code")).toBe(ended.exit);
		expect(at(summary, "updated")).toBe(applied.size);
	}
	const writes = control.ledger().filter((entry) => entry.type === "applied").length;
	return { ...ended, applied, writes };
}

/** It is refused as a whole, with that exit code and a line that says why. */
async function refuses(manifest: string | Uint8Array, exit = 3, args: readonly string[] = []): Promise<Fed> {
	const fed = await feed(manifest, args);
	expect({
		manifest: String(manifest).slice(0, 60),
		exit: fed.exit,
		stderr: fed.exit === exit ? "" : fed.stderr,
	}).toEqual({
		manifest: String(manifest).slice(0, 60),
		exit,
		stderr: "",
	});
	expect(fed.stderr.trim()).not.toBe("");
	return fed;
}

/** The server has exactly these metadata for the first documents, in their order. */
async function keeps(
	manifest: string | Uint8Array,
	wanted: readonly unknown[],
	args: readonly string[] = [],
): Promise<Fed> {
	const fed = await feed(manifest, args);
	expect({ exit: fed.exit, stderr: fed.exit === 0 ? "" : fed.stderr }).toEqual({ exit: 0, stderr: "" });
	expect([...fed.applied].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, metadata]) => metadata)).toEqual(wanted);
	return fed;
}

const [one, two, three] = [idOf(1), idOf(2), idOf(3)];
const csv = `document_id,a\n${one},Zoë\n${two},b\n`;
const wanted = [{ a: "Zoë" }, { a: "b" }];
const json = JSON.stringify([{ document_id: one, meta_fields: { a: "Zoë" } }]);

export const input = section("none", (test) => {
	test("I1 quick: a byte-order mark is no part of the first column", async () => {
		await keeps(`\uFEFF${csv}`, wanted);
		await keeps(`\uFEFF${json}`, [{ a: "Zoë" }]);
	});
	test("I2: UTF-16 with a mark is read, and without one refused", async () => {
		const little = Buffer.from(`\uFEFF${csv}`, "utf16le");
		await keeps(little, wanted);
		await keeps(Buffer.from(little).swap16(), wanted);
		await refuses(Buffer.from(csv, "utf16le"));
	});
	test("I3: bytes that are not UTF-8 are refused, never replaced", async () => {
		for (const bytes of [[0xff], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf0, 0x9f, 0x98]]) {
			await refuses(Buffer.concat([Buffer.from(`document_id,a\n${one},`), Buffer.from(bytes), Buffer.from("\n")]));
		}
	});
	test("I4: Latin-1 is refused, with its place", async () => {
		const { stderr } = await refuses(Buffer.from(csv, "latin1"));
		expect(stderr).toMatch(/tags\.csv:2:/);
	});
	test("I5: a NUL in a manifest is refused", async () => {
		await refuses(`document_id,a\n${one},x\0y\n`);
		await refuses(`document_id,a\n${one.slice(1)}\0,x\n`);
	});
	test("I6: line ends of either kind are read alike, a lone carriage return never as part of a value", async () => {
		await keeps(csv.replaceAll("\n", "\r\n"), wanted);
		await keeps(`document_id,a\r\n${one},Zoë\n${two},b\r\n`, wanted);
		await refuses(csv.replaceAll("\n", "\r"));
	});
	test("I7: quotes mean what RFC 4180 says, and one that is never closed is found where it opens", async () => {
		await keeps(`document_id,a\n${one},"x ""y""\r\nz, w"\n`, [{ a: 'x "y"\r\nz, w' }]);
		const { stderr } = await refuses(`document_id,a\n${one},x\n${two},"never\n${three},y\n`);
		expect(stderr).toMatch(/tags\.csv:3:/);
		await refuses(`document_id,a\n${one},"x"y\n`);
	});
	test("I8 quick: a short or a long row is refused; blank lines are none", async () => {
		await refuses(`document_id,a,b\n${one},x\n`);
		await refuses(`document_id,a\n${one},x,y\n`);
		await keeps(`document_id,a\n${one},x\n\n${two},y\n\n\n`, [{ a: "x" }, { a: "y" }]);
	});
	test("I9: a header that is missing, empty, twice or misspelt sends nothing", async () => {
		await refuses(`document_id,a,a\n${one},x,y\n`);
		await refuses(`document_id,\n${one},x\n`);
		await refuses(`Document_ID,a\n${one},x\n`);
		await refuses(`documentid,a\n${one},x\n`);
		await refuses(`${one},x\n${two},y\n`);
		const names = range(2_000).map((n) => `c${n}`);
		const many = `document_id,${names.join(",")}\n${one},${names.map(() => "1").join(",")}\n`;
		expect((await feed(many)).exit).toBe(0);
	});
	test("I10: semicolon and tab are told by the header; a bar is refused", async () => {
		await keeps(csv.replaceAll(",", ";"), wanted);
		await keeps(csv.replaceAll(",", "\t"), wanted);
		await refuses(csv.replaceAll(",", "|"));
	});
	test("I11: a manifest without rows is no success, unless that is allowed", async () => {
		for (const nothing of ["document_id,a\n", "", "\uFEFF", "\n\n", "[]"]) await refuses(nothing);
		expect((await feed("document_id,a\n", ["--allow-empty"])).exit).toBe(0);
	});
	test("I12 quick: the same row twice is sent once, and accounted for", async () => {
		const fed = await keeps(`document_id,a\n${one},x\n${two},y\n${one},x\n`, [{ a: "x" }, { a: "y" }]);
		expect(summaryOf(fed.stdout)).toMatchObject({ rows: 3, updated: 2, duplicate_skipped: 1 });
	});
	test("I13 quick: two values for one document are refused, or one of them is sent, never both", async () => {
		const twice = `document_id,a\n${one},x\n${two},y\n${one},z\n`;
		const { stderr } = await refuses(twice);
		expect(stderr).toMatch(/tags\.csv:4:.*2/);
		await keeps(twice, [{ a: "x" }, { a: "y" }], ["--on-duplicate", "first"]);
		const { writes } = await keeps(twice, [{ a: "z" }, { a: "y" }], ["--on-duplicate", "last"]);
		expect(writes).toBe(2);
	});
	test("I14: an id that is empty, a dot, or holds control characters is refused", async () => {
		for (const id of ["", " ", ".", "..", "a\u0007b", "a\u009bb", "x".repeat(5_000)]) {
			await refuses(JSON.stringify([{ document_id: id, meta_fields: { a: "x" } }]));
		}
		await refuses(`[{"document_id":"\\ud800","meta_fields":{"a":"x"}}]`);
	});
	test("I15: an id with odd characters is asked for as it is, and no other document is written", async () => {
		const { control, dataset, state, env } = await planned("documented");
		const odd = [
			"a/b",
			"a\\b",
			"a%2Fb",
			"a?b",
			"a#b",
			"a b",
			"ä",
			"日本",
			"😀",
			"a;b",
			"a:b",
			"a@b",
			"+",
			"a&b=c",
			"\u202eb",
		];
		const path = join(await folder(), "tags.json");
		await writeFile(path, JSON.stringify(odd.map((id) => ({ document_id: id, meta_fields: { a: "x" } }))));
		const argv = ["docs", "tag", path, "-d", dataset, "--json", "--state-dir", state, "--max-errors", "100"];
		const ended = await program(argv, env);
		expect([ended.exit, control.counts().applied]).toEqual([1, 0]);
		expect(summaryOf(ended.stdout)).toMatchObject({ rows: odd.length, failed: odd.length });
		const asked = new Set(control.counts().documents.map(({ document }) => document));
		for (const id of odd) expect({ id, asked: asked.has(id) }).toEqual({ id, asked: true });
		await withoutKeyIn(ended, state);
	});
	test("I16: hexadecimal ids that differ by case alone are one document: two values for it are refused, and one is sent once", async () => {
		const id = idOf(10);
		const twice = `document_id,a\n${id},x\n${id.toUpperCase()},y\n`;
		const { stderr } = await refuses(twice);
		expect(stderr).toMatch(/tags\.csv:3:.*2/);
		const fed = await feed(twice, ["--on-duplicate", "first"]);
		expect([fed.exit, summaryOf(fed.stdout)]).toEqual([
			0,
			expect.objectContaining({ rows: 2, updated: 1, duplicate_skipped: 1 }),
		]);
		expect([...fed.applied]).toEqual([[id, { a: "x" }]]);
	});
	test("I17: keys like __proto__ are data, and are kept", async () => {
		const names = ["constructor", "prototype", "toString", "hasOwnProperty"];
		const fed = await feed(`document_id,__proto__,${names.join(",")}\n${one},p,${names.join(",")}\n`);
		expect(fed.exit).toBe(0);
		const stored = JSON.stringify(fed.applied.get(one));
		for (const name of ["__proto__", ...names]) expect(stored).toContain(`"${name}"`);
	});
	test("I18: a cell of megabytes is refused, and one of a tenth is kept", async () => {
		await refuses(`document_id,a\n${one},${"x".repeat(20_000_000)}\n`);
		expect((await feed(`document_id,a\n${one},${"x".repeat(100_000)}\n`)).exit).toBe(0);
	});
	test("I19: numbers keep their value, or are refused; text that looks like one stays text", async () => {
		await keeps(`document_id,a,n:number\n${one},007,1.5\n`, [{ a: "007", n: 1.5 }]);
		await refuses(`document_id,n:number\n${one},1e400\n`);
		await refuses(`document_id,n:number\n${one},007\n`);
		await refuses(`[{"document_id":"${one}","meta_fields":{"n":1e400}}]`);
		const big = await feed(`[{"document_id":"${one}","meta_fields":{"n":12345678901234567890}}]`);
		if (big.exit !== 3) expect(big.stdout + JSON.stringify([...big.applied])).not.toContain("12345678901234567000");
	});
	test("I20: JSON that is not strict is refused", async () => {
		const row = `{"document_id":"${one}","meta_fields":{"a":"x"}}`;
		const odd = [
			`[${row},]`,
			`[${row} // why\n]`,
			`[{'document_id':'${one}'}]`,
			`[${row}`,
			`[${row}]x`,
			"[NaN]",
			'"x"',
			"7",
		];
		for (const text of odd) await refuses(text);
		await refuses(`[{"document_id":"${one}","document_id":"${two}","meta_fields":{"a":"x"}}]`);
		await refuses(`[{"document_id":"${one}","meta_fields":{"a":"x","a":"y"}}]`);
		await refuses(`[{"document_id":"${one}","meta_fields":{"a":${"[".repeat(50_000)}${"]".repeat(50_000)}}}]`);
	});
	test("I21: JSON lines with blank lines, CRLF and no last line end lose no row", async () => {
		const row = (id: string, a: string): string => JSON.stringify({ document_id: id, meta_fields: { a } });
		await keeps(`${row(one, "x")}\r\n\r\n${row(two, "y")}\n\n${row(three, "z")}`, [{ a: "x" }, { a: "y" }, { a: "z" }]);
		await refuses(`${row(one, "x")}\n{"document_id":"${two}","meta_`);
	});
	test("I22: values with escapes, bidirectional marks and formulas are stored as they are and shown escaped", async () => {
		const odd = ["\u001b[2J", "\u202eabc", "=1+1", "@SUM(A1)", "👨‍👩‍👧", "\u009b31m", "a\u2028b"];
		const rows = odd.map((a, index) => ({ document_id: idOf(index + 1), meta_fields: { a } }));
		await keeps(
			JSON.stringify(rows),
			odd.map((a) => ({ a })),
		);
		const { stderr } = await refuses(`document_id,publish_date\n${one},"\u001b[2J"\n`);
		expect(stderr).not.toContain("\u001b");
	});
	test("I23: an empty cell means what --empty says", async () => {
		const empty = `document_id,a,b\n${one},x,\n`;
		await keeps(empty, [{ a: "x" }]);
		await keeps(empty, [{ a: "x", b: null }], ["--empty", "null"]);
		await keeps(empty, [{ a: "x", b: "" }], ["--empty", "text"]);
	});
	test("I24: a date that does not exist is refused", async () => {
		for (const date of ["2023-02-30", "23-1-1", "12023-01-01", "2023-13-01", "01.02.2023"]) {
			await refuses(`document_id,publish_date\n${one},${date}\n`);
		}
	});
	test("I25: gzip of several members is read, one that is cut is refused, a bomb does not go off", async () => {
		const [head, tail] = [csv.slice(0, 30), csv.slice(30)];
		await keeps(Buffer.concat([gzipSync(head), gzipSync(tail)]), wanted);
		await refuses(gzipSync(csv).subarray(0, -12));
		await refuses(gzipSync(`document_id,a\n${one},${"x".repeat(300_000_000)}\n`));
		const zstd = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 0, 0, 0]);
		await refuses(zstd);
		await refuses(Buffer.from("PK\u0003\u0004 and so on"));
	});
	test("I27: a path that is no file ends at once, and nothing hangs", async () => {
		const at27 = await folder();
		await symlink(join(at27, "loop"), join(at27, "loop"));
		for (const path of [at27, join(at27, "none.csv"), join(at27, "loop")]) expect((await feedPath(path)).exit).toBe(2);
		expect([2, 3]).toContain((await feedPath("/dev/zero")).exit);
		expect([2, 3]).toContain((await feedPath("/dev/null")).exit);
	});
	test("I28: a manifest is found whatever its name, and its name can't move the cursor", async () => {
		for (const name of ["with space.csv", "new\nline.csv", "-rf.csv", "~.csv", "\u001b[2J.csv", "ü.csv"]) {
			expect((await feed(csv, [], name)).exit).toBe(0);
			const { stderr } = await feed(`document_id,a\n${one}\n`, [], name);
			expect(stderr).not.toContain("\u001b");
		}
		const { dataset, state, env } = await planned("documented");
		const at28 = await folder();
		await writeFile(join(at28, "-x.csv"), csv);
		const line = `cd ${at28} && $RAGTAG docs tag -d ${dataset} --state-dir ${state} -- -x.csv`;
		const ended = await shell(line, env);
		expect(ended.exit).toBe(0);
	});
	test("I29: an address in a value is data; one that is none is refused in the url column", async () => {
		await keeps(`document_id,link\n${one},javascript:alert(1)\n`, [{ link: "javascript:alert(1)" }]);
		await refuses(`document_id,url\n${one},not an address\n`);
	});
	test("I30 quick: an upload manifest that leads out of its folder sends nothing", async () => {
		const [outside, inside] = [await folder(), await folder()];
		await writeFile(join(outside, "secret.txt"), "secret");
		await symlink(join(outside, "secret.txt"), join(inside, "link.txt"));
		await mkdir(join(inside, "sub"));
		for (const path of ["../../etc/passwd", "/etc/passwd", join(outside, "secret.txt"), "link.txt", "sub"]) {
			const { control, dataset, state, env } = await planned("documented");
			const manifest = join(inside, "files.csv");
			await writeFile(manifest, `file,a\n${path},x\n`);
			const argv = ["docs", "upload", manifest, "-d", dataset, "--json", "--state-dir", state];
			const ended = await program(argv, env);
			expect({ path, exit: ended.exit, requests: control.counts().requests }).toEqual({ path, exit: 3, requests: 0 });
			await withoutKeyIn(ended, state);
		}
	});
});
