import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { KINDS } from "./ids.ts";
import { envelope } from "./kinds/envelope.ts";
import { http } from "./kinds/http.ts";
import { input } from "./kinds/input.ts";
import { network } from "./kinds/network.ts";
import { processes } from "./kinds/process.ts";
import { tls } from "./kinds/tls.ts";

const TESTS = [...network, ...tls, ...http, ...envelope, ...processes, ...input];

it("the matrix has 137 different kinds of faults", () => {
	const ids = KINDS.map(([id]) => id);
	expect([ids.length, new Set(ids).size]).toEqual([137, 137]);
});

it("every kind of fault has a test, or faults.md says why it has none", async () => {
	const page = await readFile(new URL("faults.md", import.meta.url), "utf8");
	// `| N8 | link down | not here: why |`, and `| N1 | refused | tested, and how |` for those that have a test.
	const rows = page.matchAll(/^\| ([A-Z]\d+) *\| ([^|]+) \| ([^|]+) \|$/gm);
	const told = new Map(
		[...rows].map(([, id = "", kind = "", how = ""]) => [id, { kind: kind.trim(), how: how.trim() }]),
	);
	const tested = new Set<string>(TESTS.map(({ id }) => id));
	const wrong = KINDS.flatMap(([id, kind]) => {
		const row = told.get(id);
		if (row?.kind !== kind) return [`${id} has no row of its own, or another name: ${kind}`];
		if (!/^(?:tested|tested in part: .+|not here: .+)$/.test(row.how)) return [`${id} is neither tested nor excused`];
		if (tested.has(id) !== row.how.startsWith("tested")) return [`${id} is not what the page says: ${row.how}`];
		return [];
	});
	expect([wrong, told.size]).toEqual([[], KINDS.length]);
});
