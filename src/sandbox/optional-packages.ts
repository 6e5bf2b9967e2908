import type { Busboy } from "@fastify/busboy";
import type Database from "libsql";

export type BusboyClass = typeof Busboy;

export type DatabaseClass = typeof Database;

/**
 * SQLite: libsql where it is installed, otherwise what Node brings since 22.5. It is loaded when a sandbox starts.
 *
 * libsql is optional, because only the sandbox needs it and it has no binary for some machines. It can't be a part of the
 * executable.
 */
export async function loadDatabase(): Promise<DatabaseClass> {
	try {
		return await loadLibsql();
	} catch (error) {
		return await loadNodeSqlite().catch(() => {
			throw missing("libsql", error, ", or Node 22.13 or newer");
		});
	}
}

export async function loadLibsql(): Promise<DatabaseClass> {
	return (await import("libsql")).default;
}

export async function loadNodeSqlite(): Promise<DatabaseClass> {
	return (await import("node:sqlite")).DatabaseSync;
}

/** The multipart parser, optional for the same reason. */
export async function loadBusboy(): Promise<BusboyClass> {
	try {
		return (await import("@fastify/busboy")).Busboy;
	} catch (error) {
		throw missing("@fastify/busboy", error);
	}
}

function missing(name: string, cause: unknown, otherwise = ""): Error {
	return new Error(`The sandbox needs the optional package ${name}, which cannot be loaded: install it${otherwise}`, {
		cause,
	});
}
