import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { errorCode, reason } from "../../errors.ts";
import type { FileFacts } from "../../files/facts.ts";
import { sha256Of } from "../../input-file.ts";
import { createFilters } from "../../files/filters.ts";
import { faultText } from "../../manifest/fault.ts";
import { emptyRow } from "../../manifest/rows/row-reader.ts";
import { type RowValidator, rowValidator } from "../../manifest/rows/validator.ts";
import type { ManifestOptions } from "../../manifest/types.ts";
import type { SourceFile } from "../../plan/plan-file/lines.ts";
import { hasSameStatus, type SyncEntry } from "../../plan/sync/state.ts";
import type { WantedFile } from "../../plan/sync/steps.ts";
import { inOrder } from "../../run/ordered.ts";
import { isAbsent } from "../../run/storage/quick-files.ts";
import { excerpt } from "../../text/show.ts";
import { type FactSetting, setFacts, type Sources, valuesOf } from "../rows/file-values.ts";
import type { FoundFile } from "../rows/find-files.ts";
import type { FileFlags } from "../../flags/input-flags.ts";

/** Files at once that are read. */
const AT_ONCE = 16;

type ScanOptions = {
	readonly entries: ReadonlyMap<string, SyncEntry>;
	/** whether the content of every file is read */
	readonly checksum: boolean;
	readonly sources: Sources;
	readonly settings: readonly FactSetting[];
	readonly manifest: ManifestOptions;
	readonly signal: AbortSignal;
	readonly onProgress: (files: number) => void;
};

/** What files want: their content by its hash, which is read only where the status of a file changed, and their metadata. */
export async function scanFiles(found: readonly FoundFile[], options: ScanOptions): Promise<WantedFile[]> {
	const validator = await rowValidator(".", options.manifest);
	const wanted: WantedFile[] = [];
	for await (const file of inOrder(found, (each) => wantedOf(each, options, validator), AT_ONCE)) {
		options.signal.throwIfAborted();
		options.onProgress(wanted.push(file));
	}
	return wanted;
}

async function wantedOf(
	{ facts, name }: FoundFile,
	options: ScanOptions,
	validator: RowValidator,
): Promise<WantedFile> {
	const { entries, checksum, signal } = options;
	const { relative: path, size, mtime, ino } = facts;
	const entry = entries.get(path);
	const isKnown = !checksum && entry !== undefined && hasSameStatus(entry, { size, mtime, ino });
	const file = (sha256: string): SourceFile => ({ path, size, mtime, ino, sha256 });
	try {
		const sha256 = isKnown ? entry.sha256 : await sha256Of(facts.path, signal);
		return { file: file(sha256), name, ...(await metadataOf(facts, options, validator)) };
	} catch (error) {
		if (errorCode(error) === undefined) throw error;
		const fault = { code: "FILE_UNREADABLE", text: `the file can't be read: ${reason(error)}` };
		return { file: file(""), name, metadata: new Map(), fault };
	}
}

async function metadataOf(
	facts: FileFacts,
	{ sources, settings, manifest }: ScanOptions,
	validator: RowValidator,
): Promise<Pick<WantedFile, "metadata" | "fault">> {
	const { values, problems } = await valuesOf(facts, sources);
	const parsed = emptyRow();
	for (const [key, { value }] of values) parsed.metadata.set(key, value);
	const faults = validator.faults(parsed, true);
	faults.push(...(await setFacts(settings, facts, parsed.metadata, manifest)));
	validator.addSchemaFaults([parsed], () => excerpt(facts.path));
	const { metadata } = parsed;
	const [problem] = problems;
	if (problem !== undefined) {
		const { file, line, column, code, text } = problem;
		return { metadata, fault: { code, text: `${excerpt(file)}:${line}:${column}: ${text}` } };
	}
	const [fault] = faults;
	return { metadata, fault: fault && { code: fault.code, text: faultText(fault) } };
}

/**
 * The files of a state that the walk has not found: those that are gone, and those that the filters or a list leave out.
 */
export async function absentFiles(
	root: string,
	entries: ReadonlyMap<string, SyncEntry>,
	found: ReadonlySet<string>,
	{ include, exclude }: FileFlags,
): Promise<ReadonlyMap<string, "gone" | "left out">> {
	const filters = await createFilters({ include, exclude });
	const absent = new Map<string, "gone" | "left out">();
	for (const path of entries.keys()) {
		if (found.has(path)) continue;
		const isLeftOut = !filters.takes(path) || (await isThere(join(root, path)));
		absent.set(path, isLeftOut ? "left out" : "gone");
	}
	return absent;
}

/** Also a link: it is left out, and its document may be that of an earlier file. A folder in the place of a file is not it. */
function isThere(path: string): Promise<boolean> {
	return lstat(path).then(
		(status) => !status.isDirectory(),
		// A file of unknown state counts as there.
		(error: unknown) => !isAbsent(error),
	);
}
