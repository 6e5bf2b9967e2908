import { mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import {
	type DatabaseClass,
	LIBSQL,
	loadDatabase,
	loadGlobalLibsql,
	loadLibsql,
	loadNodeSqlite,
	NoSqlite,
} from "../../src/sandbox/sqlite.ts";
import { filledDatasetId, openStore, type Store } from "../../src/sandbox/store/index.ts";
import { folder } from "./support.ts";

const nodeSqlite = await loadNodeSqlite().catch(() => undefined);

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Node 20 has only the first. Users of a newer one, and of the executable, have only the second. */
const LIBRARIES: readonly (readonly [name: string, library: DatabaseClass | undefined])[] = [
	["libsql", await loadLibsql()],
	["node:sqlite", nodeSqlite],
];

test("what Node itself has is chosen, so that a user of Node 22.13 and newer installs nothing", async () => {
	expect(await loadDatabase()).toBe(nodeSqlite ?? (await loadLibsql()));
});

test("no statement has numbered parameters, which the SQLite of Node 22 and 24.0 refuses", async () => {
	const store = join(ROOT, "src", "sandbox", "store");
	const texts = await Promise.all((await readdir(store)).map((name) => readFile(join(store, name), "utf8")));
	expect(texts.join("")).toContain("VALUES (?, ?");
	expect(texts.join("")).not.toMatch(/\?\d/);
});

test("a user of npx finds libsql among the global packages, where it would never be beside the program", async () => {
	const prefix = await folder();
	const installed = join(prefix, process.platform === "win32" ? "" : "lib", "node_modules", "libsql");
	await mkdir(dirname(installed), { recursive: true });
	vi.stubEnv("npm_config_prefix", prefix);
	onTestFinished(() => void vi.unstubAllEnvs());
	await expect(loadGlobalLibsql()).rejects.toThrow("Cannot find module 'libsql'");

	await symlink(join(ROOT, "node_modules", "libsql"), installed);
	const database = new (await loadGlobalLibsql())(":memory:");
	expect(database.prepare("SELECT 1 AS one").get()).toMatchObject({ one: 1 });
});

test("where there is none, the error has each reason and the line that installs the version of the tests", async () => {
	const fails = (message: string) => () => Promise.reject(new Error(message));
	const places = [fails("No such built-in module: node:sqlite"), fails("Cannot find module 'libsql'\nRequire stack:")];
	const error = await loadDatabase(places).catch((reason: unknown) => reason);
	expect(error).toBeInstanceOf(NoSqlite);
	expect(error).toMatchObject({
		message: "no SQLite can be loaded (No such built-in module: node:sqlite; Cannot find module 'libsql')",
		hint: `Use Node 22.13 or newer, or type: npm install --global ${LIBSQL}`,
	});
	const manifest: unknown = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
	expect(manifest).toMatchObject({ devDependencies: { libsql: LIBSQL.replace("libsql@", "") } });
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

	test.skipIf(library === undefined)("a file that is not ours is named and left (skipped without it)", async () => {
		const path = join(await folder(), "notes.txt");
		const text = "not a database".repeat(100);
		await writeFile(path, text);
		expect(() => open(path)).toThrow(`${path} is not a SQLite file`);
		expect(await readFile(path, "utf8")).toBe(text);
	});

	test.skipIf(library === undefined)("a file in use says so, a closed one is whole (skipped without it)", async () => {
		const path = join(await folder(), "data.db");
		const store = open(path, 2);
		expect(() => open(path)).toThrow(`${path} is in use by another process`);
		store.close();
		open(path).close();
		await expect(stat(`${path}-wal`)).rejects.toThrow("ENOENT");
	});
});
