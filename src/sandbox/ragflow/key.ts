import type { IncomingMessage } from "node:http";
import type { Release } from "../flavours/release.ts";
import { sameKey } from "../guard.ts";
import { bulkUpdate } from "./bulk.ts";
import type { Route } from "./call.ts";
import { Code, databaseError, Failure } from "./failure.ts";
import { downloadDocument } from "./download.ts";
import { removeDocuments } from "./remove.ts";

export type Keys = { readonly owner: string; readonly member: string | undefined };

type Asked = {
	readonly request: IncomingMessage;
	readonly route: Route;
	readonly release: Release;
	readonly keys: Keys;
	readonly databaseAway: boolean;
};

/**
 * Whether a request carries the owner's key; false for the member's. Throws for any other.
 *
 * v0.15 to v0.24 check by `token_required` (api/utils/api_utils.py), v0.26 and v0.27 by `login_required`
 * (api/apps/__init__.py), and v0.25.0 by either: by the former in what was left in api/apps/sdk/doc.py.
 */
export function isOwner({ request, route, release, keys, databaseAway }: Asked): boolean {
	const old = release.refusedKey === "status-200" || (release.refusedKey === "mixed" && olderRoutes.has(route));
	const given = old ? secondWord(request, release) : wordAfterBearer(request);
	// The key is what is first looked up in the database.
	if (databaseAway) throw noDatabase(old, release);
	if (sameKey(given, keys.owner)) return true;
	if (keys.member !== undefined && sameKey(given, keys.member)) return false;
	throw old ? refusedWord(Code.authentication, "Authentication error: API key is invalid!", release) : unauthorized();
}

const olderRoutes: ReadonlySet<Route> = new Set([removeDocuments, bulkUpdate, downloadDocument]);

/** The older check wants two words, whatever the first. Without them the refusal bears the code of a success. */
function secondWord(request: IncomingMessage, release: Release): string {
	const words = (request.headers.authorization ?? "").split(/\s+/).filter((word) => word !== "");
	const [first, second] = words;
	const malformed = release.refusedKey === "mixed" ? Code.authentication : Code.success;
	if (first === undefined) throw refusedWord(Code.success, "`Authorization` can't be empty", release);
	if (second === undefined) throw refusedWord(malformed, "Please check your authorization format.", release);
	return second;
}

function refusedWord(code: number, message: string, { refusedKey }: Release): Failure {
	return new Failure(code, message, refusedKey === "mixed" ? { status: 401, data: "null" } : { data: "false" });
}

/** The newer check takes a header without "Bearer" for the key itself. */
function wordAfterBearer(request: IncomingMessage): string {
	const header = request.headers.authorization ?? "";
	const given = /^bearer /i.test(header) ? header.slice("bearer ".length).trim() : header;
	if (given === "") throw unauthorized();
	return given;
}

function unauthorized(): Failure {
	return new Failure(Code.unauthorized, "<Unauthorized '401: Unauthorized'>", { status: 401, data: "null" });
}

/** `login_required` takes it for an unknown key. */
function noDatabase(old: boolean, release: Release): Failure {
	if (!old) return unauthorized();
	return databaseError(2003, "Can't connect to MySQL server on 'mysql' ([Errno 111] Connection refused)", release);
}
