import { CliError, Exit, reason } from "../../errors.ts";
import { isJsonObject, parseJson } from "../../json/values.ts";
import { writeRunSummary } from "../../run/recorded/run-summary.ts";
import { type Ended, resultOf } from "../report.ts";
import type { Row } from "../../manifest/types.ts";
import type { Recorder } from "../../run/recorded/recorder.ts";
import type { Run } from "../open-run.ts";

/** What is needed to end a run's record. */
type OpenRecord = {
	readonly run: Run;
	readonly name: string;
	readonly journal: Pick<Recorder<Row>, "end" | "wrote">;
};

/** Records how an execution ended: its last record in the journal, then the summary. @throws CliError exit 7 */
export async function recordEnd({ run, name, journal }: OpenRecord, ended: Ended): Promise<undefined> {
	const runs = run.app.runs(run.settings);
	const { exit, summary } = await resultOf(run, ended);
	const now = new Date();
	const journalBytes = await journal.end(exit, now);
	const file = await runs.read(name);
	const printed = parseJson(summary);
	if (file === undefined || !isJsonObject(printed)) return;
	try {
		await writeRunSummary(runs, name, { printed, file, ended: now, wrote: journal.wrote, journalBytes });
	} catch (error) {
		// A full disk is no fault of the program.
		throw new CliError(`${runs.path(name)}: ${reason(error)}`, {
			exit: Exit.storage,
			hint: "Every row is recorded: ragtag runs show has the counts.",
			cause: error,
		});
	}
}
