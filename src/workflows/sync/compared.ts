import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { CliError, errorCode, Exit, reason } from "../../errors.ts";
import type { FileFacts } from "../../files/facts.ts";
import { createFilters } from "../../files/filters.ts";
import type { FileFlags } from "../../flags/input-flags.ts";
import { sha256Of } from "../../input-file.ts";
import type { Metadata } from "../../json/values.ts";
import { faultText } from "../../manifest/fault.ts";
import { emptyRow } from "../../manifest/rows/row-reader.ts";
import { type RowValidator, rowValidator } from "../../manifest/rows/validator.ts";
import type { ManifestOptions } from "../../manifest/types.ts";
import { differenceOf } from "../../plan/change.ts";
import type { SourceFile, SyncTarget } from "../../plan/plan-file/lines.ts";
import { metadataHash } from "../../plan/plan-file/planned.ts";
import { hasSameStatus, type SyncEntry } from "../../plan/sync/state.ts";
import type { KnownDocument, Retag, WantedFile } from "../../plan/sync/steps.ts";
import type { InexactValues } from "../../rest/inexact.ts";
import { findDocument } from "../../run/documents/find-document.ts";
import { wholeList } from "../../run/documents/list.ts";
import { MARK } from "../../run/documents/searches.ts";
import { hasContentOf } from "../../run/operations/replace.ts";
import { inOrder } from "../../run/ordered.ts";
import { isAbsent } from "../../run/storage/quick-files.ts";
import { excerpt, show } from "../../text/show.ts";
import { documentsText, numberText } from "../../text/words.ts";
import type { Run } from "../open-run.ts";
import type { FoundFile } from "../rows/find-files.ts";
import { type FactSetting, setFacts, type Sources, valuesOf } from "../rows/file-values.ts";
import type { StateFile } from "./state-file.ts";

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

/** A document that the state does not know. */
type OtherDocument = KnownDocument & { readonly size: number | undefined };

/** A dataset as a sync sees it. */
type ListedDataset = Awaited<ReturnType<typeof listDataset>>;

type Held = { readonly metadata: Metadata; readonly inexact: InexactValues | undefined; readonly was: string };

/**
 * Reads the list of the dataset once. Metadata is held only of documents whose files give some.
 *
 * @throws RestError where the list stays short
 */
export async function listDataset(
	{ session, app }: Run<unknown>,
	datasetId: string,
	entries: Iterable<SyncEntry>,
	{ files, adopts }: { readonly files: readonly WantedFile[]; readonly adopts: boolean },
) {
	const { service, request } = session;
	const api = await service.known(request);
	const { normalise } = api.dialect.flavour;
	const names = new Set(files.map(({ name }) => name.normalize()));
	const ids = new Set(Array.from(entries, ({ documentId }) => documentId));
	const isWanted = files.some(({ metadata }) => metadata.size > 0);
	/** those that the state knows, by their ids */
	const known = new Map<string, KnownDocument>();
	const held = new Map<string, Held>();
	/** those that it does not know and that have the name of a file, by that name */
	const namesakes = new Map<string, OtherDocument[]>();
	let count = 0;
	/** whether any shows metadata */
	let isTagged = false;
	app.monitor.enter("reading", "the documents of the dataset");
	for await (const document of wholeList({ api, request: service.searches.believing(request, MARK), datasetId })) {
		count += 1;
		app.monitor.count({ done: count, unit: "documents" });
		const { id, name, size, metadata = new Map(), inexact } = document;
		isTagged ||= metadata.size > 0;
		const key = name.normalize();
		const isKnown = ids.has(id);
		if (!isKnown && !names.has(key)) continue;
		const was = metadataHash(metadata, inexact);
		if (isWanted && (isKnown || adopts)) held.set(id, { metadata, inexact, was });
		if (isKnown) known.set(id, { id, name, was });
		else namesakes.set(key, [...(namesakes.get(key) ?? []), { id, name, was, size }]);
	}
	const retag: Retag = (id, wanted) => {
		const has = held.get(id);
		if (has === undefined) return undefined;
		const { metadata: present, inexact, was } = has;
		// Keys that the file does not give are kept.
		const metadata = new Map([...present, ...wanted]);
		const difference = differenceOf(present, metadata, normalise, inexact);
		if (difference.add.size + difference.change.size === 0) return undefined;
		const kept = [...(inexact?.keys() ?? [])].find((key) => !wanted.has(key));
		if (kept !== undefined)
			return { fault: `its document has ${show(kept)}, a number that can't be sent exactly; nothing was sent` };
		return { was, metadata, difference };
	};
	return { count, isTagged, known, namesakes, retag };
}

/** A file and the document of its name and size that no sync has stored. */
type Equal = Pick<WantedFile, "file"> & { readonly document: OtherDocument };

/** The files that have a document of their name and size. */
export function equalDocuments(
	files: readonly WantedFile[],
	entries: ReadonlyMap<string, SyncEntry>,
	{ known, namesakes }: ListedDataset,
): readonly Equal[] {
	return files.flatMap(({ file, name, fault }) => {
		const isKnown = known.has(entries.get(file.path)?.documentId ?? "");
		const [document, ...others] = namesakes.get(name.normalize()) ?? [];
		if (fault !== undefined || isKnown || document?.size !== file.size || others.length > 0) return [];
		return [{ file, document }];
	});
}

/** Takes documents over that are as large as the files of their names; with `--checksum` those that have their content. */
export async function adopt(
	run: Run<{ readonly checksum?: boolean | undefined }>,
	{ root, datasetId }: SyncTarget,
	equal: readonly Equal[],
): Promise<SyncEntry[]> {
	const { flags, session, app } = run;
	const { service, request } = session;
	const adopted: SyncEntry[] = [];
	for (const { file, document } of equal) {
		app.signal.throwIfAborted();
		if (flags.checksum === true) {
			const dataset = { api: await service.known(request), request, datasetId };
			const listed = await findDocument(dataset, document.id);
			const path = join(root, file.path);
			if (listed === undefined || !(await hasContentOf(dataset, listed, path))) continue;
		}
		// Another time than the file's: so the plan has a line for it.
		adopted.push({ ...file, mtime: -1, documentId: document.id, name: document.name });
	}
	app.io.note(
		`${documentsText(adopted.length)} of the name and ${flags.checksum === true ? "content" : "size"} of a file: taken over.`,
	);
	return adopted;
}

/** @throws CliError exit 8 where the state is lost, and documents look like those of a sync */
export function refuseLost({ path, is }: StateFile, { equal, documents }: { equal: number; documents: number }): void {
	if (is === "read" || (equal === 0 && is === "absent")) return;
	const what =
		is === "damaged" ? `the state ${show(path)} is damaged` : "there is no state of this folder and this dataset";
	const counts = `the dataset has ${documentsText(documents)}, ${numberText(equal)} with the name and size of a file here`;
	throw new CliError(`${what}, and ${counts}; nothing was sent`, {
		exit: Exit.foreign,
		hint: "--adopt takes those over (with --checksum those of the same content); --no-adopt leaves them alone.",
	});
}
