import { join } from "node:path";
import { CliError, Exit } from "../../errors.ts";
import type { SyncTarget } from "../../plan/plan-file/planned.ts";
import type { SyncEntry } from "../../plan/sync/state.ts";
import type { WantedFile } from "../../plan/sync/steps.ts";
import { findDocument } from "../../run/documents/find-document.ts";
import { hasContentOf } from "../../run/operations/replace.ts";
import { show } from "../../text/show.ts";
import { documentsText, numberText } from "../../text/words.ts";
import type { Run } from "../open-run.ts";
import type { ListedDataset, OtherDocument } from "./listed.ts";
import type { StateFile } from "./state-file.ts";

/** A file and the document of its name and size that no sync has stored. */
type Equal = { readonly wanted: WantedFile; readonly document: OtherDocument };

/** The documents of the name and size of a file, by the path of the file. */
export function equalDocuments(
	files: readonly WantedFile[],
	entries: ReadonlyMap<string, SyncEntry>,
	{ known, namesakes }: ListedDataset,
): ReadonlyMap<string, Equal> {
	const equal = new Map<string, Equal>();
	for (const wanted of files) {
		const { file, name, fault } = wanted;
		const entry = entries.get(file.path);
		if (fault !== undefined || (entry !== undefined && known.has(entry.documentId))) continue;
		const [document, ...others] = namesakes.get(name.normalize()) ?? [];
		if (document !== undefined && others.length === 0 && document.size === file.size)
			equal.set(file.path, { wanted, document });
	}
	return equal;
}

/** Takes documents over that are as large as the files of their names; with `--checksum` those that have their content. */
export async function adopt(
	run: Run<{ readonly checksum?: boolean | undefined }>,
	{ root, datasetId }: SyncTarget,
	equal: ReadonlyMap<string, Equal>,
): Promise<SyncEntry[]> {
	const { flags, session, app } = run;
	const { service, request } = session;
	const adopted: SyncEntry[] = [];
	for (const { wanted, document } of equal.values()) {
		app.signal.throwIfAborted();
		if (flags.checksum === true) {
			const api = await service.known(request);
			const listed = await findDocument(api, request, datasetId, document.id);
			const path = join(root, wanted.file.path);
			if (listed === undefined || !(await hasContentOf({ api, request }, listed, path))) continue;
		}
		// Another time than the file's: so the plan has a line for it.
		adopted.push({ ...wanted.file, mtime: -1, documentId: document.id, name: document.name });
	}
	app.io.note(
		`${documentsText(adopted.length)} of the name and ${flags.checksum === true ? "content" : "size"} of a file: taken over.`,
	);
	return adopted;
}

/** @throws CliError exit 8 where the state is lost, and documents look like those of a sync */
export function refuseLost(
	{ path, state, isDamaged }: StateFile,
	{ equal, documents }: { equal: number; documents: number },
): void {
	if (state !== undefined || (equal === 0 && !isDamaged)) return;
	const what = isDamaged ? `the state ${show(path)} is damaged` : "there is no state of this folder and this dataset";
	const counts = `the dataset has ${documentsText(documents)}, ${numberText(equal)} with the name and size of a file here`;
	throw new CliError(`${what}, and ${counts}; nothing was sent`, {
		exit: Exit.foreign,
		hint: "--adopt takes those over (with --checksum those of the same content); --no-adopt leaves them alone.",
	});
}
