import { type FileHandle, mkdtemp, open, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Normalise } from "../../rest/flavours.ts";
import { changeLine, PlanText } from "../../plan/plan-file/encode.ts";
import type { PlannedChange } from "../../plan/plan-file/planned.ts";
import { undoStep } from "../../plan/undo.ts";
import { MAX_LINE_BYTES } from "../../run/journal/encode.ts";
import type { RecordedRun } from "../../run/journal/reader.ts";
import { RowBytes } from "../../run/journal/row-states.ts";
import { withTemporaryStorage } from "../../run/storage/temporary-folders.ts";
import type { RunFile } from "../../run/recorded/run-file.ts";
import { countUnrecordedRows, writtenRows } from "../../run/recorded/recorded-rows.ts";
import { VERSION } from "../../version.ts";

/** A plan that takes a run back, in a private file. Disposing of it removes the file. */
export type UndoPlan = AsyncDisposable & {
	readonly path: string;
	/** documents that get back what they had */
	readonly restored: number;
	/** documents that the run uploaded, and that go */
	readonly removed: number;
	/** rows that can't be taken back */
	readonly impossible: number;
	/** the documents of the first of those */
	readonly impossibleIds: readonly string[];
	/** when the run sent something last, in epoch milliseconds; 0 where that is not known */
	readonly lastSent: number;
};

/** Documents that are named of those that can't be taken back. */
const NAMED = 5;

/** Characters that are gathered before they are written. */
const BLOCK = 256 * 1024;

/**
 * Plans how a run is taken back, row by row from its journal. The same journal gives the same plan, byte for byte: two
 * who undo one run at once meet at its lock.
 *
 * @param keeps what the service keeps of what it is sent
 * @param parent a folder that is the user's alone
 * @throws CliError exit 7 where the plan can't be kept
 */
export async function planUndo(
	recorded: RecordedRun,
	{ baseUrl, manifest, started }: RunFile,
	keeps: Normalise,
	parent: string,
): Promise<UndoPlan> {
	const folder = await kept(() => mkdtemp(join(parent, "ragtag-undo-")));
	const close = (): Promise<void> => rm(folder, { recursive: true, force: true });
	try {
		const path = join(folder, "plan");
		const file = await kept(() => open(path, "wx", 0o600));
		const counts = { restored: 0, removed: 0, impossible: 0 };
		const impossibleIds: string[] = [];
		const told = new RowBytes();
		let unchanged = 0;
		let lastSent = 0;
		try {
			const text = new PlanText();
			const { name, sha256, rows } = manifest;
			const header = {
				ragtag: VERSION,
				baseUrl,
				mode: "replace",
				manifest: { name, sha256, rows },
				created: started,
			} as const;
			let waiting = text.header(header);
			for await (const written of writtenRows(recorded, keeps)) {
				told.set(written.row, 1);
				lastSent = Math.max(lastSent, written.time ?? 0);
				const step = undoStep(written, keeps);
				if (step === "nothing") unchanged += 1;
				else if (step === "impossible" || isTooLong(step)) {
					counts.impossible += 1;
					if (written.documentId !== "" && impossibleIds.length < NAMED) impossibleIds.push(written.documentId);
				} else {
					counts[step.action === "remove" ? "removed" : "restored"] += 1;
					waiting += text.change(step);
				}
				if (waiting.length < BLOCK) continue;
				await append(file, waiting);
				waiting = "";
			}
			const untold = countUnrecordedRows(recorded, told);
			// A write whose record a repair lost was seen by the next one of its row, which then seems to have changed nothing.
			const unsure = Math.min(unchanged, Math.max(0, recorded.sent.lost - untold));
			counts.impossible += untold + unsure;
			unchanged -= unsure;
			await append(file, waiting + text.footer({ unchanged, failed: counts.impossible }));
		} finally {
			await file.close();
		}
		return { path, ...counts, impossibleIds, lastSent, [Symbol.asyncDispose]: close };
	} catch (error) {
		await close();
		throw error;
	}
}

/** Whether a change is longer than what is read back of a plan: the others are taken back without it. */
function isTooLong(step: PlannedChange): boolean {
	return Buffer.byteLength(changeLine(step)) > MAX_LINE_BYTES;
}

function append(file: FileHandle, text: string): Promise<void> {
	return kept(() => file.appendFile(text));
}

function kept<Result>(work: () => Promise<Result>): Promise<Result> {
	return withTemporaryStorage("how the run is undone", work, "nothing was sent");
}
