import { showsMetadata } from "../../run/documents/before-images.ts";
import { type Doubts, MARK_AT_ONCE, REFUSE, WARN } from "../../run/documents/searches.ts";
import { type DryRunFlags, dryRunOptions } from "../../flags/change-flags.ts";
import { RUN_OF_MANIFEST } from "../../flags/flags.ts";
import { IDS, SHARD } from "../../flags/input-flags.ts";
import { refuseShort } from "../lists/warnings.ts";
import { documentsText } from "../../text/words.ts";
import { temporaryFile } from "../../run/storage/temporary-folders.ts";
import type { Session } from "../../app.ts";
import { CliError, Exit } from "../../errors.ts";
import { checkSetOptions } from "../../manifest/set-option.ts";
import { csvLine } from "../../manifest/csv/cells.ts";
import { idFault } from "../../manifest/rows/values.ts";
import type { Document } from "../../rest/types.ts";
import { show } from "../../text/show.ts";
import { manifestOptions } from "../check/check-manifest.ts";
import { requireDataset } from "../dataset.ts";
import type { Run } from "../open-run.ts";
import { endBefore } from "../report.ts";
import { splitType } from "../../manifest/rows/typed.ts";
import {
	type FilterChecks,
	filteredDocuments,
	type FilterFlags,
	filterKeys,
	filterText,
	type NamedKey,
} from "./document-filter.ts";
import { checkedRows, idRows, type ManifestReadFlags, manifestRows, type Reading } from "./manifest-rows.ts";
import type { RowSource } from "./row-source.ts";
import { KeyCounts } from "../values/value-counts.ts";

/** Options of commands that take a manifest, or ids in its place. */
export const CHOSEN = { ...RUN_OF_MANIFEST, ...IDS, ...SHARD, ...dryRunOptions() };

/** Flags of commands that take a filter in place of a manifest; without one, some take all documents. */
export type FoundFlags = ManifestReadFlags &
	FilterFlags &
	DryRunFlags & {
		readonly manifest: string | undefined;
		readonly id?: readonly string[] | undefined;
	};

/** The rows of the manifest or of the ids that are given, else of the documents that meet the filter. */
export function givenRows(run: Run<FoundFlags>, reading: Reading): Promise<RowSource> {
	const { manifest, id } = run.flags;
	if (manifest !== undefined) return manifestRows(run, manifest, reading);
	return id === undefined ? foundRows(run, reading) : idRows(run, id, reading);
}

/**
 * The documents of a dataset that meet a filter, as rows. They are listed first, and the run uses that list. A recorded run
 * keeps their ids, and is resumed with them. Where there are none, only a dry run goes on.
 *
 * @throws CliError exit 1 where the list can't tell which they are: it is short, or shows no metadata; exit 7 where their
 * ids can't be kept
 */
async function foundRows(run: Run<FoundFlags>, { purpose, alreadyPresent }: Reading): Promise<RowSource> {
	const { flags, settings, app } = run;
	const { io, clock } = app;
	const dataset = requireDataset("a filter", flags.dataset ?? settings.dataset?.value);
	const options = await manifestOptions(purpose, flags, settings);
	await checkSetOptions(options);
	const started = clock.now();
	// A download changes no document, so what a list hides matters only where documents are chosen by it.
	const isShown = flags.dryRun === true || (purpose === "download" && filterKeys(flags).length === 0);
	// Parsing has nothing to do with metadata.
	const isBlind = purpose === "parse" && filterKeys(flags).length === 0;
	const lines = foundIds(run, dataset, isBlind ? MARK_AT_ONCE : isShown ? WARN : REFUSE);
	const path = await temporaryFile(await app.temporaryFolder(settings), "the ids that were found", lines);
	const filter = filterText(flags);
	const name = filter === "" ? "all documents" : filter;
	const reading = { ...run, flags: { ...flags, allowEmpty: true } };
	const found = await checkedRows(reading, { path, name }, options, alreadyPresent);
	const { rows: count } = found;
	const which = `${count === 0 ? "no document" : documentsText(count)} of dataset ${show(dataset)}`;
	if (filter === "") io.note(`dataset ${show(dataset)} has ${documentsText(count)}`);
	else io.note(`${which} ${count > 1 ? "meet" : "meets"} the filter: ${name}`);
	if (count > 0 || flags.dryRun === true) return found;
	await found[Symbol.asyncDispose]();
	return endBefore(run, found, undefined, { seconds: (clock.now() - started) / 1000 });
}

/** The ids of the documents that meet a filter, as the lines of a manifest. */
async function* foundIds(
	{ flags: filter, session }: Run<FoundFlags>,
	dataset: string,
	doubts: Doubts,
): AsyncGenerator<string> {
	let isNone = true;
	const checks: FilterChecks = {
		onShort: refuseShort(dataset, "nothing was sent, because the list of documents"),
		keys: new KeyCounts(),
		named: filter.allowEmpty === true ? [] : filterKeys(filter).filter((named) => !isToBeSet(named, filter)),
		end: "; nothing was sent",
		doubts,
	};
	yield csvLine(["dataset_id", "document_id"]);
	for await (const document of filteredDocuments(session, dataset, filter, checks)) {
		checkId(document);
		isNone = false;
		yield csvLine([dataset, document.id]);
	}
	if (isNone) await checkReadable(filter, dataset, session);
}

/** `--missing reviewed --set reviewed=no` is right where no document has the key yet. */
function isToBeSet({ flag, key }: NamedKey, { set = [] }: Pick<FoundFlags, "set">): boolean {
	if (flag !== "--missing") return false;
	return set.some((text) => splitType(text.slice(0, text.indexOf("="))).key === key);
}

/** A list without metadata makes a filter find nothing, which would look like a true result. */
async function checkReadable(filter: FilterFlags, dataset: string, { service, request }: Session): Promise<void> {
	const [named] = filterKeys(filter);
	if (named === undefined || (await showsMetadata(service, request, dataset))) return;
	throw new CliError(
		`the list of dataset ${show(dataset)} shows no metadata, so ${named.flag} has nothing to compare with; nothing was sent`,
		{
			exit: Exit.failedRows,
			hint: "Name the documents in a manifest: the service does not show what they have.",
		},
	);
}

function checkId({ id }: Document): void {
	const fault = idFault("document_id", id);
	if (fault === undefined) return;
	throw new CliError(`the service lists a document whose id ${fault.text}; nothing was sent`, {
		exit: Exit.failedRows,
		hint: "No request can name it: inform the operator of the service.",
	});
}
