import { type BigIntStats, statSync } from "node:fs";
import { isAbsent } from "../storage/quick-files.ts";
import { pathsOf, type RecordedRun, readRun } from "./reader.ts";

/**
 * Keeps the run that was read last, as a command looks at it several times: to choose it, for a policy, and again once it
 * holds the lock. The files are read again if they have changed since.
 */
export class LastReading {
	#kept: { readonly folder: string; readonly files: string; readonly run: RecordedRun } | undefined;

	/** The same as `readRun`. The caller changes no state of the run, or calls `forget` first. */
	async of(folder: string): Promise<RecordedRun | undefined> {
		// What is written while the files are read makes them differ from this.
		const files = identityOf(folder);
		const kept = this.#kept;
		if (kept !== undefined && kept.folder === folder && kept.files === files) return kept.run;
		const run = await readRun(folder);
		this.#kept = run === undefined || files === undefined ? undefined : { folder, files, run };
		return run;
	}

	/** The run goes on from here: its state changes with each record. */
	forget(): void {
		this.#kept = undefined;
	}
}

/** What differs once a file was replaced or written to; undefined where one of the two is not there, or is compressed. */
function identityOf(folder: string): string | undefined {
	const { journal, sent } = pathsOf(folder);
	const [one, other] = [statusOf(journal), statusOf(sent)];
	return one === undefined || other === undefined ? undefined : `${textOf(one)} ${textOf(other)}`;
}

function textOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
	return [dev, ino, size, mtimeNs, ctimeNs].join(" ");
}

function statusOf(path: string): BigIntStats | undefined {
	try {
		return statSync(path, { bigint: true });
	} catch (error) {
		if (isAbsent(error)) return undefined;
		throw error;
	}
}
