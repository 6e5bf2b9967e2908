import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type DatabaseClass, loadDatabase, loadLibsql, loadNodeSqlite } from "../../src/sandbox/optional-packages.ts";
import { filledDatasetId, openStore, type Store } from "../../src/sandbox/store/index.ts";
import { folder } from "./support.ts";

const nodeSqlite = await loadNodeSqlite().catch(() => undefined);

/** The executable has only the second, and Node 20 only the first. */
const LIBRARIES: readonly (readonly [name: string, library: DatabaseClass | undefined])[] = [
	["libsql", await loadLibsql()],
	["node:sqlite", nodeSqlite],
];

test("the installed package is chosen, so that a sandbox behaves the same under each version of Node", async () => {
	expect(await loadDatabase()).toBe(await loadLibsql());
});

describe.each(LIBRARIES)("with %s", (name, library) => {
	/** Opens the file with the library of this round. */
	function open(path: string, documents = 0): Store {
		if (library === undefined) throw new Error(`${name} is missing`);
		return openStore(library, path, documents);
	}

	test.skipIf(library === undefined)("what was written is there after a restart (skipped without it)", async () => {
		const path = join(await folder(), "data.db");
		const store = open(path, 3);
		expect(store.datasets.find(filledDatasetId)).toMatchObject({ documentCount: 3 });
		const id = `${"0".repeat(31)}2`;
		await store.commits.write(() => store.documents.replaceMetadata(filledDatasetId, id, '{"team":"légal"}'));
		store.documents.addBytes(id, 0, Buffer.from([0, 255, 10]));
		store.documents.addBytes(id, 1, Buffer.from("end"));
		store.close();

		const again = open(path);
		expect(again.documents.metadata(filledDatasetId, id)).toBe('{"team":"légal"}');
		expect([...again.documents.bytes(id)]).toEqual([0, 255, 10, ...Buffer.from("end")]);
		again.close();
	});

	test.skipIf(library === undefined)(
		"a file that is not ours is named and left unchanged (skipped without it)",
		async () => {
			const path = join(await folder(), "notes.txt");
			const text = "not a database".repeat(100);
			await writeFile(path, text);
			expect(() => open(path)).toThrow(`${path} is not a SQLite file`);
			expect(await readFile(path, "utf8")).toBe(text);
		},
	);

	test.skipIf(library === undefined)(
		"a file in use says so, and a closed one is whole (skipped without it)",
		async () => {
			const path = join(await folder(), "data.db");
			const store = open(path, 2);
			expect(() => open(path)).toThrow(`${path} is in use by another process`);
			store.close();
			open(path).close();
			await expect(stat(`${path}-wal`)).rejects.toThrow("ENOENT");
		},
	);
});
