// The types of Node 20 do not have this module. What the store uses of its class is as in libsql; test/sandbox/sqlite.test.ts
// runs both.
declare module "node:sqlite" {
	import type Database from "libsql";
	export const DatabaseSync: typeof Database;
}
