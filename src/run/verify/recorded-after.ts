import { JournalUnreadable } from "../journal/errors.ts";
import { readRun } from "../journal/open.ts";
import type { HeaderRecord } from "../journal/records.ts";
import type { Runs } from "../recorded/runs.ts";
import type { LaterRun } from "./later-runs.ts";

/** The runs of the same target that began after one, the oldest first. Those that can't be read are passed over. */
export async function* recordedAfter(runs: Runs, { run, target }: HeaderRecord): AsyncGenerator<LaterRun> {
	const all = await runs.files();
	const place = all.findIndex((file) => file.run === run);
	// The newest come first. A run that has lost its record is older than none.
	for (const file of all.slice(0, Math.max(0, place)).toReversed()) {
		const name = file.run;
		if (file.baseUrl !== target.baseUrl) continue;
		const recorded = await readRun(runs.path(name)).catch((error: unknown) => {
			if (error instanceof JournalUnreadable) return undefined;
			throw error;
		});
		if (recorded === undefined) continue;
		// Rows of a merge, of a plan and of an undo carry along what they don't change.
		const isWhole = file.options["mode"] === "replace" || file.command === "docs upload";
		yield { name, isWhole, state: recorded.state, sentRecords: () => recorded.sentRecords() };
	}
}
