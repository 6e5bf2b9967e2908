import type { Normalise } from "../../rest/flavours.ts";
import { changeLine, PlanText } from "../../plan/plan-file/encode.ts";
import type { PlannedChange, SyncTarget } from "../../plan/plan-file/lines.ts";
import { undoStep } from "../../plan/undo.ts";
import { MAX_LINE_BYTES } from "../../run/journal/record-line.ts";
import type { RecordedRun } from "../../run/journal/reader.ts";
import { RowNumbers } from "../../run/journal/row-states.ts";
import { temporaryFile } from "../../run/storage/temporary-folders.ts";
import type { RunFile } from "../../run/recorded/run-file.ts";
import { countUnrecordedRows, type WrittenRow, writtenRows } from "../../run/recorded/recorded-rows.ts";
import { VERSION } from "../../version.ts";

/** The plan that undoes a run, in a private file. */
export type UndoPlan = Awaited<ReturnType<typeof planUndo>>;

/** The steps of an undo that need more than the journal: those of a sync. */
export type UndoSteps = {
	readonly sync: SyncTarget;
	/** undefined for a row that is undone like one of any other run */
	stepOf(written: WrittenRow): Promise<PlannedChange | undefined>;
};

/** Documents that can't be restored and are named. */
const NAMED = 5;

/**
 * Plans the undo of a run, row by row from its journal. The same journal gives the same plan, byte for byte. So two
 * processes that undo one run at the same time need the same lock, and only one of them goes on.
 *
 * @param normalise gives what the service stores of metadata that is sent
 * @param parent a folder that only the user can open. @param steps what only a sync knows
 * @throws CliError exit 7 where the plan can't be stored
 */
export async function planUndo(
	recorded: RecordedRun,
	{ baseUrl, manifest, started }: RunFile,
	normalise: Normalise,
	{ parent, steps }: { readonly parent: string; readonly steps: UndoSteps | undefined },
) {
	const counts = {
		/** documents whose previous metadata is written again */
		restored: 0,
		/** documents that the run uploaded and the undo removes */
		removed: 0,
		/** documents that the run removed or replaced, and that are uploaded again */
		broughtBack: 0,
		/** rows that can't be undone */
		impossible: 0,
	};
	/** ids of the first documents that can't be restored, at most `NAMED` */
	const impossibleIds: string[] = [];
	/** when the run sent something last, in epoch milliseconds; 0 where that is not known */
	let lastSent = 0;
	const lines = async function* (): AsyncGenerator<string> {
		const text = new PlanText();
		const { name, sha256, rows } = manifest;
		yield text.header({
			ragtag: VERSION,
			baseUrl,
			mode: "replace",
			manifest: { name, sha256, rows },
			created: started,
			sync: steps?.sync,
		});
		const recordedRows = new RowNumbers();
		let unchanged = 0;
		for await (const written of writtenRows(recorded, normalise)) {
			recordedRows.set(written.row, 1);
			lastSent = Math.max(lastSent, written.time);
			const step = (await steps?.stepOf(written)) ?? undoStep(written, normalise);
			if (step === "nothing") unchanged += 1;
			// A change may be longer than the longest line of a plan. Such a row can't be undone, and the others can.
			else if (step === "impossible" || Buffer.byteLength(changeLine(step)) > MAX_LINE_BYTES) {
				counts.impossible += 1;
				if (written.documentId !== "" && impossibleIds.length < NAMED) impossibleIds.push(written.documentId);
			} else {
				if ("file" in step && step.action !== "rename") counts.broughtBack += 1;
				else counts[step.action === "remove" ? "removed" : "restored"] += 1;
				yield text.change(step);
			}
		}
		const unrecorded = countUnrecordedRows(recorded, recordedRows);
		// If a repair lost the record of a row's first write, the next write of that row seems to have changed nothing.
		const inDoubt = Math.min(unchanged, Math.max(0, recorded.state.lost - unrecorded));
		counts.impossible += unrecorded + inDoubt;
		yield text.footer({ unchanged: unchanged - inDoubt, failed: counts.impossible });
	};
	const path = await temporaryFile(parent, "how the run is undone", lines());
	return { path, ...counts, impossibleIds, lastSent };
}
