import type { Busboy } from "@fastify/busboy";
import type Database from "libsql";

export type BusboyClass = typeof Busboy;
export type DatabaseClass = typeof Database;

/** SQLite: an optional package, because only the sandbox needs it. It is loaded when a sandbox starts. */
export async function loadDatabase(): Promise<DatabaseClass> {
	try {
		return (await import("libsql")).default;
	} catch (error) {
		throw missing("libsql", error);
	}
}

/** The multipart parser, optional for the same reason. */
export async function loadBusboy(): Promise<BusboyClass> {
	try {
		return (await import("@fastify/busboy")).Busboy;
	} catch (error) {
		throw missing("@fastify/busboy", error);
	}
}

function missing(name: string, cause: unknown): Error {
	return new Error(`The sandbox needs the optional package ${name}, which cannot be loaded: install it`, { cause });
}
