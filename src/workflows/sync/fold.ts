import { basename, dirname, join } from "node:path";
import type { PlannedChange, SourceFile, SyncTarget } from "../../plan/plan-file/lines.ts";
import type { SyncEntry } from "../../plan/sync/state.ts";
import type { RecordedRun } from "../../run/journal/reader.ts";
import { NOT_LISTED, type Stop } from "../../run/types.ts";
import type { PlannedRow } from "../plan/plan-rows.ts";
import type { RunRecord } from "../run/open-record.ts";
import { stopFromError } from "../../run/stop/shutdown.ts";
import { readStateFile, writeState } from "./state-file.ts";

/** What a run has made of a row. */
type Made = {
	readonly documentId: string;
	readonly name: string | undefined;
	readonly isDone: boolean;
	/** a further execution, too, could not find that the document has the bytes of the file */
	readonly isStale?: boolean;
};

const STALE: ReadonlySet<string> = new Set(["FILE_UNREADABLE", "NOT_STORED"]);

/** Takes what a run has done into the state. The journal says it, so it may be done more than once. @returns why that failed */
export function foldRecord(record: RunRecord<PlannedRow>, target: SyncTarget): Promise<{ readonly stop?: Stop }> {
	return fold(record, target).then(
		() => ({}),
		(error: unknown) => ({ stop: stopFromError(error) }),
	);
}

/** @throws CliError exit 7 where the state can't be read or written, 8 where it is another's */
async function fold({ rows, run, name }: RunRecord<PlannedRow>, target: SyncTarget): Promise<void> {
	const recorded = await run.app.runs(run.settings).journal(name);
	if (recorded === undefined) return;
	const made = await madeRows(recorded);
	const { baseUrl } = run.session;
	const { state } = await readStateFile(target.state, { ...target, baseUrl });
	const entries = new Map(state.entries);
	const paths = new Map(Array.from(entries.values(), ({ documentId, path }) => [documentId, path]));
	let { isTagged } = state;
	for await (const { index, planned, metadata } of rows.read()) {
		const row = made.get(index);
		if (row === undefined) continue;
		apply(entries, paths, planned, row);
		isTagged ||= metadata.size > 0;
	}
	await writeState(target.state, { ...state, device: target.device, isTagged, entries });
}

/** The rows that were done, and those that failed after their files were stored. */
async function madeRows(recorded: RecordedRun): Promise<ReadonlyMap<number, Made>> {
	const made = new Map<number, Made>();
	const isAgain = recorded.state.headers.length > 1;
	for await (const record of recorded.sentRecords()) {
		if (record.kind !== "stored") continue;
		made.set(record.row, { documentId: record.documentId, name: record.storedName, isDone: false });
	}
	for await (const outcome of recorded.outcomes()) {
		const { row, documentId, storedName } = outcome;
		if (outcome.status !== "failed") {
			made.set(row, { documentId, name: storedName, isDone: true });
			continue;
		}
		const { code } = outcome.error;
		const stored = made.get(row);
		if (code === NOT_LISTED) made.delete(row);
		else if (stored !== undefined) made.set(row, { ...stored, isStale: isAgain && STALE.has(code) });
	}
	return made;
}

function apply(
	entries: Map<string, SyncEntry>,
	paths: Map<string, string>,
	planned: PlannedChange,
	{ documentId, name, isDone, isStale = false }: Made,
): void {
	const forget = (id: string): void => {
		const path = paths.get(id);
		if (path !== undefined) entries.delete(path);
		paths.delete(id);
	};
	const add = (path: string, stored: string, { at: _at, ...file }: SourceFile): void => {
		forget(documentId);
		entries.set(path, { ...file, path, documentId, name: stored });
		paths.set(documentId, path);
	};
	switch (planned.action) {
		case "upload":
		case "keep":
		case "rename":
		case "replace": {
			const { file } = planned;
			const { path } = file;
			if (planned.action === "upload" || isDone) {
				forget(planned.documentId);
				add(path, name ?? planned.name, file);
				return;
			}
			// The old document of a replacement that was not finished is still the file's. The new one counts as that of a file
			// which is gone, or no sync would ever remove it.
			if (!isStale || name === undefined) return;
			const own = join(dirname(path), basename(name));
			if (!entries.has(own)) add(own, name, file);
			return;
		}
		case "remove":
			if (isDone) forget(planned.documentId);
			return;
		case "update":
		case "fail":
	}
}
