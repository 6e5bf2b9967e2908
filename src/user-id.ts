import { statSync } from "node:fs";
import { userInfo } from "node:os";

/** The user id of this process. NaN where it can't be found: then only root's folders are accepted. */
export function currentUserId(): number {
	try {
		return userInfo().uid;
	} catch {
		return unnamedUserId();
	}
}

/** The id of a user that the system has no entry for, as in many containers: Linux shows the owner of each process. */
function unnamedUserId(): number {
	try {
		return statSync("/proc/self").uid;
	} catch {
		return Number.NaN;
	}
}

/** Whether a file belongs to another user. Windows has no such ids. */
export function isOfAnotherUser({ uid }: { readonly uid: number }): boolean {
	const own = currentUserId();
	return own !== -1 && uid !== own;
}
