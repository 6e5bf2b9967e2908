import { closeSync, openSync } from "node:fs";
import type Libsql from "libsql";
import type { DatabaseClass } from "../optional.ts";
import { alike } from "./alike.ts";
import { integerColumn, textColumn } from "./rows.ts";
import { applicationId, layoutVersion, schema } from "./schema.ts";

export type Database = Libsql.Database;
export type Statement = Libsql.Statement;

/** Milliseconds to wait for another process to let go of the file: a sandbox that is just closing. */
const lockTimeout = 1000;

/** Opens or creates the file at an absolute path. Every failure names the file and says what is wrong with it. */
export function openDatabase(database: DatabaseClass, path: string): Database {
	let opened: Database;
	makePrivate(path);
	try {
		opened = new database(path, { timeout: lockTimeout });
	} catch (error) {
		throw new Error(`Cannot open ${path}: its folder is missing, it is a folder, or access is denied`, {
			cause: error,
		});
	}
	try {
		// Before anything is written: even the journal mode would change a file that is not ours.
		checkOurs(opened, path);
		// One process a file: page starts are remembered in memory. The lock goes with the process, however it ends.
		opened.exec("PRAGMA locking_mode = EXCLUSIVE");
		opened.exec("PRAGMA journal_mode = WAL");
		// A commit then outlives the process but perhaps not the machine: right for a sandbox, and far faster.
		opened.exec("PRAGMA synchronous = NORMAL");
		addKeys(opened);
		opened.exec(`BEGIN IMMEDIATE; ${schema} COMMIT`);
		// Bytes of uploads that were cut off by the end of a process.
		opened.exec("DELETE FROM chunks WHERE document NOT IN (SELECT id FROM documents)");
	} catch (error) {
		opened.close();
		throw explained(error, path);
	}
	return opened;
}

/**
 * Makes the file before SQLite would, for its owner alone: documents that were uploaded are in it. One that is there
 * keeps its mode, and what can't be made is told when it is opened.
 */
function makePrivate(path: string): void {
	try {
		closeSync(openSync(path, "wx", 0o600));
	} catch {
		// Told by the opening.
	}
}

/**
 * Leaves one whole file and no lock on it.
 *
 * Closing alone would not: the package keeps the connection until its statements are collected as garbage, and with it
 * the lock. Leaving the journal moves all of it into the file; only then can the lock be given back.
 */
export function closeDatabase(database: Database): void {
	database.prepare("PRAGMA journal_mode = DELETE").get();
	database.exec("PRAGMA locking_mode = NORMAL");
	// The lock goes with the next read, not with the setting.
	database.prepare("SELECT count(*) FROM datasets").get();
	database.close();
}

/** Gives names of a file of the first layout their keys. */
function addKeys(database: Database): void {
	if (integerColumn(database.prepare("PRAGMA user_version").get(), "user_version") !== 1) return;
	database.exec("BEGIN IMMEDIATE");
	for (const table of ["datasets", "documents"]) {
		database.exec(`ALTER TABLE ${table} ADD COLUMN name_key TEXT NOT NULL DEFAULT ''`);
		const set = database.prepare(`UPDATE ${table} SET name_key = ? WHERE seq = ?`);
		for (const row of database.prepare(`SELECT seq, name FROM ${table}`).all())
			set.run(alike(textColumn(row, "name")), integerColumn(row, "seq"));
	}
	database.exec(`PRAGMA user_version = ${layoutVersion}`);
	database.exec("COMMIT");
}

function checkOurs(database: Database, path: string): void {
	const tables = integerColumn(database.prepare("SELECT count(*) AS tables FROM sqlite_master").get(), "tables");
	if (tables === 0) return;
	const id = integerColumn(database.prepare("PRAGMA application_id").get(), "application_id");
	const version = integerColumn(database.prepare("PRAGMA user_version").get(), "user_version");
	if (id !== applicationId) throw new Error(`${path} is a SQLite file, but not of a sandbox: it was left alone`);
	if (version !== layoutVersion && version !== 1)
		throw new Error(`${path} was written by another version of the sandbox`);
}

function explained(error: unknown, path: string): unknown {
	const code: unknown = error instanceof Error && "code" in error ? error.code : undefined;
	if (code === "SQLITE_NOTADB") return new Error(`${path} is not a SQLite file`, { cause: error });
	if (code === "SQLITE_BUSY") return new Error(`${path} is in use by another process`, { cause: error });
	if (code === "SQLITE_READONLY" || code === "SQLITE_CANTOPEN")
		return new Error(`${path} cannot be written`, { cause: error });
	return error;
}
