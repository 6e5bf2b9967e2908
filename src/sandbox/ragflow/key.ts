import type { IncomingMessage } from "node:http";
import type { Release } from "../flavours/release.ts";
import { sameKey } from "../guard.ts";
import { Code, Failure } from "./failure.ts";

export type Keys = { readonly owner: string; readonly member: string | undefined };

/** Whether a request carries the owner's key; false for the member's. Throws for any other. */
export function isOwner(request: IncomingMessage, release: Release, keys: Keys): boolean {
	const given = release.refusedKey === "status-200" ? secondWord(request) : bearer(request);
	if (sameKey(given, keys.owner)) return true;
	if (keys.member !== undefined && sameKey(given, keys.member)) return false;
	if (release.refusedKey === "status-401") throw unauthorized();
	throw new Failure(Code.authentication, "Authentication error: API key is invalid!", { data: "false" });
}

/** The older check wants two words, whatever the first. Without them the refusal bears the code of a success. */
function secondWord(request: IncomingMessage): string {
	const words = (request.headers.authorization ?? "").split(/\s+/).filter((word) => word !== "");
	const [first, second] = words;
	if (first === undefined) throw new Failure(0, "`Authorization` can't be empty", { data: "false" });
	if (second === undefined) throw new Failure(0, "Please check your authorization format.", { data: "false" });
	return second;
}

function bearer(request: IncomingMessage): string {
	const given = /^Bearer (.+)$/i.exec(request.headers.authorization ?? "")?.[1];
	if (given === undefined) throw unauthorized();
	return given;
}

function unauthorized(): Failure {
	return new Failure(Code.unauthorized, "<Unauthorized '401: Unauthorized'>", { status: 401, data: "null" });
}
