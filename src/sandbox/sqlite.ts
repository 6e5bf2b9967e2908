import { exec } from "node:child_process";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type Database from "libsql";

export type DatabaseClass = typeof Database;

/** The version that the tests run with. */
export const LIBSQL = "libsql@0.5.29";

/** No SQLite was found: what the user types is another Node, or one line. */
export class NoSqlite extends Error {
	readonly hint = `Use Node 22.13 or newer, or type: npm install --global ${LIBSQL}`;
}

/**
 * SQLite: what Node brings since 22.13, otherwise libsql. It is loaded when a sandbox starts.
 *
 * libsql is not installed with the program: it has four times its size, and only the sandbox on an old Node needs it.
 * It has no binary for some machines, and it can't be a part of the executable.
 */
export async function loadDatabase(places = [loadNodeSqlite, loadLibsql, loadGlobalLibsql]): Promise<DatabaseClass> {
	const reasons: string[] = [];
	for (const load of places) {
		try {
			return await load();
		} catch (error) {
			// Node adds lines with the files that wanted it.
			reasons.push(String(error instanceof Error ? error.message : error).split("\n", 1)[0] ?? "");
		}
	}
	throw new NoSqlite(`no SQLite can be loaded (${reasons.join("; ")})`);
}

export async function loadNodeSqlite(): Promise<DatabaseClass> {
	return (await import("node:sqlite")).DatabaseSync;
}

/** Beside the program, where both are installed in one place: globally, in a project, or by one call of npx. */
export async function loadLibsql(): Promise<DatabaseClass> {
	return (await import("libsql")).default;
}

/**
 * Among the global packages of npm, for a program that npx has stored elsewhere. Never from the current folder: a command
 * must run no code that lies where it happens to be called.
 */
export async function loadGlobalLibsql(): Promise<DatabaseClass> {
	// By a shell, because npm is a script on Windows. A project's .npmrc could name another folder, the home's is the user's.
	const { stdout } = await promisify(exec)("npm root --global", { cwd: homedir() });
	const loaded: unknown = createRequire(join(stdout.trim(), "libsql"))("libsql");
	if (!isDatabaseClass(loaded)) throw new Error("the global libsql has no class");
	return loaded;
}

function isDatabaseClass(value: unknown): value is DatabaseClass {
	return typeof value === "function";
}
