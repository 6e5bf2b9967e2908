import { join } from "node:path";
import { CliError, Exit } from "../../errors.ts";
import { Locked, takeLock } from "../../run/journal/lock.ts";
import type { Processes } from "../../run/storage/process-owner.ts";
import { OWN_PREFIX } from "../../text/safe-paths.ts";

/** Keeps other downloads of this machine out of a folder. @throws CliError exit 5 while one is going on */
export async function lockFolder(folder: string, processes: Processes): Promise<AsyncDisposable> {
	try {
		const lock = await takeLock(join(folder, `${OWN_PREFIX}downloads`), { processes, force: true });
		return { [Symbol.asyncDispose]: () => lock.release() };
	} catch (error) {
		if (!(error instanceof Locked)) throw error;
		const who = error.owner === undefined ? "another process" : `process ${error.owner.pid}`;
		throw new CliError(`${who} downloads into ${folder} now; nothing was sent`, {
			exit: Exit.locked,
			hint: "Wait until it has ended, or name another folder.",
			cause: error,
		});
	}
}
