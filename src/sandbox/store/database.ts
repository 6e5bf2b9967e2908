import { closeSync, openSync } from "node:fs";
import type Libsql from "libsql";
import type { DatabaseClass } from "../sqlite.ts";
import { collationKey } from "./collation.ts";

export type Database = Libsql.Database;
export type Statement = Libsql.Statement;

/** "ragt": marks a file of the sandbox, so that another program's database is never changed by mistake. */
const applicationId = 0x72_61_67_74;

/** Raised when the tables change: a file of another layout is refused. */
const layoutVersion = 2;

/**
 * `seq` is the order of creation, which is the order of lists. Metadata is JSON text, with its keys as they were sent.
 * Names with the same `name_key` are equal to the database. The bytes of a document are rows of `chunks`, because an
 * upload is written while it arrives and is never held whole.
 */
const schema = `
	CREATE TABLE IF NOT EXISTS datasets (
		seq INTEGER PRIMARY KEY,
		id TEXT NOT NULL UNIQUE,
		name TEXT NOT NULL,
		name_key TEXT NOT NULL,
		document_count INTEGER NOT NULL DEFAULT 0
	);
	CREATE TABLE IF NOT EXISTS documents (
		seq INTEGER PRIMARY KEY,
		dataset INTEGER NOT NULL REFERENCES datasets (seq),
		id TEXT NOT NULL UNIQUE,
		name TEXT NOT NULL,
		name_key TEXT NOT NULL,
		size INTEGER NOT NULL,
		create_time INTEGER NOT NULL,
		update_time INTEGER NOT NULL,
		meta_fields TEXT NOT NULL
	);
	CREATE INDEX IF NOT EXISTS documents_by_name ON documents (dataset, name);
	CREATE INDEX IF NOT EXISTS documents_by_name_key ON documents (dataset, name_key);
	CREATE INDEX IF NOT EXISTS documents_by_dataset ON documents (dataset);
	CREATE TABLE IF NOT EXISTS chunks (
		document TEXT NOT NULL,
		position INTEGER NOT NULL,
		bytes BLOB NOT NULL,
		PRIMARY KEY (document, position)
	);
	CREATE TABLE IF NOT EXISTS parsing (
		document TEXT PRIMARY KEY,
		method TEXT NOT NULL,
		config TEXT NOT NULL
	);
	CREATE TABLE IF NOT EXISTS states (
		document TEXT PRIMARY KEY,
		run TEXT NOT NULL,
		shown INTEGER NOT NULL,
		steps INTEGER NOT NULL,
		message TEXT NOT NULL,
		chunk_count INTEGER NOT NULL,
		token_count INTEGER NOT NULL,
		enabled INTEGER NOT NULL,
		starts INTEGER NOT NULL
	);
	PRAGMA application_id = ${applicationId};
	PRAGMA user_version = ${layoutVersion};
`;

/** Milliseconds to wait for another process to release the file: a sandbox that is closing. */
const lockTimeout = 1000;

/** Opens or creates the file at an absolute path. Every error names the file and its fault. */
export function openDatabase(database: DatabaseClass, path: string): Database {
	let opened: Database;
	createPrivate(path);
	try {
		opened = new database(path, { timeout: lockTimeout });
	} catch (error) {
		throw new Error(`Cannot open ${path}: its folder is missing, it is a folder, or access is denied`, {
			cause: error,
		});
	}
	try {
		// Before anything is written: even the journal mode would change another program's file.
		checkOwnFile(opened, path);
		// One process for each file, because page starts are remembered in memory. The lock ends with the process.
		opened.exec("PRAGMA locking_mode = EXCLUSIVE");
		opened.exec("PRAGMA journal_mode = WAL");
		// A commit then outlives the process, but perhaps not a power loss. It is far faster.
		opened.exec("PRAGMA synchronous = NORMAL");
		addNameKeys(opened);
		opened.exec(`BEGIN IMMEDIATE; ${schema} COMMIT`);
		// Bytes of uploads that were cut off when a process ended.
		opened.exec("DELETE FROM chunks WHERE document NOT IN (SELECT id FROM documents)");
	} catch (error) {
		opened.close();
		throw explained(error, path);
	}
	return opened;
}

/**
 * Leaves one whole file without a lock.
 *
 * Closing alone would not: the package keeps the connection, and with it the lock, until its statements are collected
 * as garbage. Leaving the WAL mode moves its data into the file; only then can the lock be released.
 */
export function closeDatabase(database: Database): void {
	database.prepare("PRAGMA journal_mode = DELETE").get();
	database.exec("PRAGMA locking_mode = NORMAL");
	// The lock is released by the next read, not by the setting.
	database.prepare("SELECT count(*) FROM datasets").get();
	database.close();
}

/** A text column of a row. SQLite's columns have no fixed type, so every value is checked. */
export function textColumn(row: unknown, column: string): string {
	const value = columnOf(row, column);
	if (typeof value !== "string") throw new Error(`Column ${column} of the sandbox's data is not text`);
	return value;
}

export function integerColumn(row: unknown, column: string): number {
	const value = columnOf(row, column);
	if (typeof value !== "number") throw new Error(`Column ${column} of the sandbox's data is not a number`);
	return value;
}

function columnOf(row: unknown, column: string): unknown {
	if (typeof row !== "object" || row === null) throw new Error("A row of the sandbox's data is missing");
	const value: unknown = Reflect.get(row, column);
	return value;
}

/**
 * Creates the file before SQLite would, readable by its owner alone, because it contains uploaded documents.
 *
 * An existing file keeps its mode.
 */
function createPrivate(path: string): void {
	try {
		closeSync(openSync(path, "wx", 0o600));
	} catch {
		// Opening the database reports the error.
	}
}

/** Adds the column `name_key` to a file of the first layout. */
function addNameKeys(database: Database): void {
	if (integerColumn(database.prepare("PRAGMA user_version").get(), "user_version") !== 1) return;
	database.exec("BEGIN IMMEDIATE");
	for (const table of ["datasets", "documents"]) {
		database.exec(`ALTER TABLE ${table} ADD COLUMN name_key TEXT NOT NULL DEFAULT ''`);
		const set = database.prepare(`UPDATE ${table} SET name_key = ? WHERE seq = ?`);
		for (const row of database.prepare(`SELECT seq, name FROM ${table}`).all())
			set.run(collationKey(textColumn(row, "name")), integerColumn(row, "seq"));
	}
	database.exec(`PRAGMA user_version = ${layoutVersion}`);
	database.exec("COMMIT");
}

function checkOwnFile(database: Database, path: string): void {
	const tables = integerColumn(database.prepare("SELECT count(*) AS tables FROM sqlite_master").get(), "tables");
	if (tables === 0) return;
	const id = integerColumn(database.prepare("PRAGMA application_id").get(), "application_id");
	const version = integerColumn(database.prepare("PRAGMA user_version").get(), "user_version");
	if (id !== applicationId) throw new Error(`${path} is a SQLite file, but not of a sandbox: it was left unchanged`);
	if (version !== layoutVersion && version !== 1)
		throw new Error(`${path} was written by another version of the sandbox`);
}

/** SQLite's primary result codes: libsql has their names, and `node:sqlite` their numbers (extended ones in the upper bits). */
const NOT_A_DATABASE = ["SQLITE_NOTADB", 26];
const BUSY = ["SQLITE_BUSY", 5];
const NOT_WRITABLE = ["SQLITE_READONLY", 8, "SQLITE_CANTOPEN", 14];

function explained(error: unknown, path: string): unknown {
	const code = resultCode(error);
	if (code === undefined) return error;
	if (NOT_A_DATABASE.includes(code)) return new Error(`${path} is not a SQLite file`, { cause: error });
	if (BUSY.includes(code)) return new Error(`${path} is in use by another process`, { cause: error });
	if (NOT_WRITABLE.includes(code)) return new Error(`${path} cannot be written`, { cause: error });
	return error;
}

function resultCode(error: unknown): string | number | undefined {
	if (!(error instanceof Error)) return undefined;
	if ("errcode" in error && typeof error.errcode === "number") return error.errcode & 0xff;
	return "code" in error && typeof error.code === "string" ? error.code : undefined;
}
