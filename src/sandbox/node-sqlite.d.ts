// The types of Node 20 do not have this module. The store uses members that libsql has too;
// test/sandbox/sqlite.test.ts runs both.
declare module "node:sqlite" {
	import type Database from "libsql";
	export const DatabaseSync: typeof Database;
}
