import type { IncomingMessage } from "node:http";
import type { Release } from "../flavours/release.ts";
import { sameKey } from "../refusal.ts";
import { bulkUpdate } from "./bulk-update.ts";
import { downloadDocument } from "./download.ts";
import { Code, databaseError, Failure } from "./failure.ts";
import { parseDocuments } from "./parse.ts";
import { removeDocuments } from "./remove.ts";
import type { Route } from "./request.ts";

export type Keys = { readonly owner: string; readonly member: string | undefined };

type KeyCheck = {
	readonly request: IncomingMessage;
	readonly route: Route;
	readonly release: Release;
	readonly keys: Keys;
	readonly databaseDown: boolean;
};

/**
 * Whether a request has the owner's key; false for the member's. Throws for any other.
 *
 * v0.15 to v0.24 check by `token_required` (api/utils/api_utils.py), v0.26 and v0.27 by `login_required`
 * (api/apps/__init__.py), and v0.25.0 by either: by the former in the routes left in api/apps/sdk/doc.py.
 */
export function isOwner({ request, route, release, keys, databaseDown }: KeyCheck): boolean {
	if (release.refusedKey === "status-401-by-cause") return isOwnersKey(lastWord(request), keys, databaseDown);
	const byToken = release.refusedKey === "status-200" || (release.refusedKey === "mixed" && tokenRoutes.has(route));
	const key = byToken ? secondWord(request, release) : wordAfterBearer(request);
	// The key is the first that the server looks up in the database.
	if (databaseDown) throw noDatabase(byToken, release);
	if (sameKey(key, keys.owner)) return true;
	if (keys.member !== undefined && sameKey(key, keys.member)) return false;
	if (!byToken) throw unauthorized();
	throw refusedToken(Code.authentication, "Authentication error: API key is invalid!", release);
}

const tokenRoutes: ReadonlySet<Route> = new Set([removeDocuments, bulkUpdate, downloadDocument, parseDocuments]);

/** `token_required` takes the second of two words, whatever the first is. Without two, the refusal has code 0. */
function secondWord(request: IncomingMessage, release: Release): string {
	const words = (request.headers.authorization ?? "").split(/\s+/).filter((word) => word !== "");
	const [first, second] = words;
	const malformed = release.refusedKey === "mixed" ? Code.authentication : Code.success;
	if (first === undefined) throw refusedToken(Code.success, "`Authorization` can't be empty", release);
	if (second === undefined) throw refusedToken(malformed, "Please check your authorization format.", release);
	return second;
}

function refusedToken(code: number, message: string, { refusedKey }: Release): Failure {
	return new Failure(code, message, refusedKey === "mixed" ? { status: 401, data: "null" } : { data: "false" });
}

/** `login_required` takes a header without "Bearer" as the key itself. */
function wordAfterBearer(request: IncomingMessage): string {
	const header = request.headers.authorization ?? "";
	const key = /^bearer /i.test(header) ? header.slice("bearer ".length).trim() : header;
	if (key === "") throw unauthorized();
	return key;
}

/** v1.0 takes the only word of the header, or the second of two, and no third (`GetUserByAPIToken`). */
function lastWord(request: IncomingMessage): string {
	const header = request.headers.authorization ?? "";
	if (header === "") throw unauthorized("Missing Authorization header");
	const words = header.split(" ");
	return words.length > 2 ? "" : (words.at(-1) ?? "");
}

/** A key that can't be looked up counts as wrong there (handler/auth.go:130-139). */
function isOwnersKey(key: string, { owner, member }: Keys, databaseDown: boolean): boolean {
	if (!databaseDown && sameKey(key, owner)) return true;
	if (!databaseDown && member !== undefined && sameKey(key, member)) return false;
	throw unauthorized("Invalid access token");
}

function unauthorized(message = "<Unauthorized '401: Unauthorized'>"): Failure {
	return new Failure(Code.unauthorized, message, { status: 401, data: "null" });
}

/** `login_required` treats the error as an unknown key. */
function noDatabase(byToken: boolean, release: Release): Failure {
	if (!byToken) return unauthorized();
	return databaseError(2003, "Can't connect to MySQL server on 'mysql' ([Errno 111] Connection refused)", release);
}
