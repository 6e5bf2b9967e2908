import type { PlannedChange, SourceFile, SyncTarget } from "../../plan/plan-file/lines.ts";
import { metadataHash } from "../../plan/plan-file/planned.ts";
import type { Normalise } from "../../rest/flavours.ts";
import { type KeptDocument, keptDocument } from "../../run/operations/trash.ts";
import type { WrittenRow } from "../../run/recorded/recorded-rows.ts";
import type { RunFile } from "../../run/recorded/run-file.ts";
import type { Run } from "../open-run.ts";
import { openPlan } from "../plan/open-plan.ts";
import { readStateFile } from "./state-file.ts";
import { trashOf } from "../plan/planned.ts";
import type { UndoSteps } from "../plan/undo-plan.ts";

/** What the undo of a sync does besides that of other runs: names go back, and kept documents are uploaded again. */
export async function syncUndoSteps(
	{ app, settings }: Pick<Run, "app" | "settings">,
	{ run, baseUrl, manifest, options }: RunFile,
	normalise: Normalise,
): Promise<UndoSteps | undefined> {
	if (typeof options["sync"] !== "string") return undefined;
	const temporaryFolder = await app.temporaryFolder(settings);
	const plan = await openPlan(manifest.path, { stdin: app.stdin, temporaryFolder, actions: [] });
	const { sync } = plan.header;
	const rows: PlannedChange[] = [];
	for await (const planned of plan.read()) rows.push(planned);
	await plan.close();
	if (sync === undefined) return undefined;
	// As the next sync believes it: nothing was ever tagged.
	const file = sync.isUntagged ? await readStateFile(sync.state, { ...sync, baseUrl }) : undefined;
	const isUntagged = file?.is === "read" && !file.state.isTagged;
	const trash = trashOf({ app, settings }, run);
	return {
		sync: { ...sync, isUntagged } satisfies SyncTarget,
		stepOf: async (written) => {
			const planned = rows[written.row];
			if (planned === undefined) return undefined;
			if (written.write === "rename") return renamedBack(planned, written);
			const isGone = written.status === "removed" || written.status === "replaced";
			const kept = isGone ? keptDocument(trash, written.row) : undefined;
			return kept && broughtBack(planned, written, kept, normalise);
		},
	};
}

function renamedBack(
	planned: PlannedChange,
	{ line, datasetId, documentId, names, status }: WrittenRow,
): PlannedChange | undefined {
	if (planned.action !== "rename" || names === undefined || status !== "renamed") return undefined;
	const { file, fromPath = file.path } = planned;
	const before: SourceFile = { ...file, path: fromPath, mtime: -1 };
	const ids = { line, datasetId, documentId, name: names.from };
	return { ...ids, action: "rename", from: names.to, file: before, metadata: new Map() };
}

function broughtBack(
	planned: PlannedChange,
	{ line, datasetId, documentId, metadata: left }: WrittenRow,
	{ name, size, sha256, metadata, path: at }: KeptDocument,
	normalise: Normalise,
): PlannedChange | undefined {
	const file = (path: string): SourceFile => ({ path, size, mtime: -1, ino: -1, sha256, at });
	const common = { line, datasetId, name, metadata };
	if (planned.action === "remove") {
		return { ...common, documentId: "", action: "upload", file: file(planned.path ?? name) };
	}
	if (planned.action !== "replace") return undefined;
	const was = metadataHash(normalise(left));
	return { ...common, documentId, action: "replace", was, file: file(planned.file.path) };
}
