import { createHash } from "node:crypto";
import { type ExitCode, Exit } from "../../errors.ts";
import type { DryRunFlags } from "../../flags/change-flags.ts";
import type { RunFlags } from "../../flags/flags.ts";
import { quoted } from "../../flags/next-command.ts";
import { DELETE_TOKEN } from "../../json/list-change.ts";
import { type Metadata, sameValue } from "../../json/values.ts";
import { problemOf } from "../../manifest/fault.ts";
import { valueFaults } from "../../manifest/rows/values.ts";
import { differenceOf } from "../../plan/change.ts";
import type { PlanHeader, PlannedChange } from "../../plan/plan-file/lines.ts";
import { metadataHash } from "../../plan/plan-file/planned.ts";
import { renamedKeys, ValueMap, withValue } from "../../plan/value-change.ts";
import type { Document } from "../../rest/types.ts";
import { refuseRounded } from "../../run/documents/before-images.ts";
import { allDocuments } from "../../run/documents/list.ts";
import { REFUSE, WARN } from "../../run/documents/searches.ts";
import { rowErrorOf } from "../../run/operations/prepare-update.ts";
import { refuseValues } from "../../run/service/arrival.ts";
import type { Service } from "../../run/service/service.ts";
import type { RowError } from "../../run/types.ts";
import { show } from "../../text/show.ts";
import { documentsText, numberText } from "../../text/words.ts";
import { checkAndReport, manifestOptions, problemReporter, refusal } from "../check/check-manifest.ts";
import { refuseShort } from "../lists/warnings.ts";
import type { Run } from "../open-run.ts";
import { CHANGES, KEY_TAKEN, newPlanPrinter, previewChanges, sendChanges } from "../plan/planned.ts";
import { planRows } from "../plan/plan-rows.ts";
import { openPlanWriter, pathOfPlan } from "../plan/write-plan.ts";
import { endBefore, NO_ROWS } from "../report.ts";
import { refuseMissing, KeyCounts } from "./value-counts.ts";

type ChangeFlags = RunFlags & DryRunFlags & { readonly out?: string | undefined };

/** What a document has afterwards, or why it can't be changed; and the line that says so. */
type ChangedDocument = { readonly line: number } & (
	| { readonly metadata: Metadata; readonly error?: undefined }
	| { readonly error: RowError }
);

/** A change of all documents of a dataset. */
type DatasetChange = {
	/** keys that some document must have */
	readonly keys: readonly string[];
	/** as the run records its source */
	readonly manifest: PlanHeader["manifest"];
	/** undefined where the document stays */
	readonly of: (metadata: Metadata, document: Document) => ChangedDocument | undefined;
	/** the key whose present value is not sent again */
	readonly replaced?: string | undefined;
	/** what is said after all documents were read */
	readonly notes: () => readonly string[];
};

/** Values of a map that are named because no document has them. */
const MOST_NAMED = 5;

/** The change that a map of the values of a key says. */
export function mappedChange(key: string, map: ValueMap, manifest: PlanHeader["manifest"]): DatasetChange {
	return {
		keys: [key],
		manifest,
		replaced: key,
		of: (metadata, { inexact }) => {
			const value = metadata.get(key);
			// A rounded value is none that a map can name.
			if (value === undefined || inexact?.has(key) === true) return undefined;
			const found = map.of(value);
			return found && { line: found.line, metadata: withValue(metadata, key, found.to) };
		},
		notes: () => {
			const { notFound } = map;
			if (notFound.length === 0) return [];
			const named = notFound
				.slice(0, MOST_NAMED)
				.map(({ from, line }) => `${show(JSON.stringify(from))} (line ${line})`);
			const more = notFound.length > named.length ? `, and ${numberText(notFound.length - named.length)} more` : "";
			return [`warning: no document has these values of the map: ${named.join(", ")}${more}`];
		},
	};
}

/** The change of `--rename OLD=NEW`. */
export function renamingChange(renames: readonly (readonly [from: string, to: string])[]): DatasetChange {
	const names = new Map(renames);
	const text = renames.map(([from, to]) => `--rename ${quoted(`${from}=${to}`)}`).join(" ");
	const sha256 = createHash("sha256").update(text).digest("hex");
	return {
		keys: [...names.keys()],
		manifest: { name: text, sha256, rows: renames.length },
		of: (metadata, { id }) => {
			const at = renames.findIndex(([from]) => metadata.has(from));
			if (at === -1) return undefined;
			const renamed = renamedKeys(metadata, names);
			if ("metadata" in renamed) return { line: at + 1, metadata: renamed.metadata };
			const [from, to] = renamed.taken;
			const text = `document ${show(id)} has ${show(from)} and ${show(to)}, with different values; nothing was sent`;
			return { line: at + 1, error: { code: KEY_TAKEN, text } };
		},
		notes: () => [],
	};
}

/** Plans a change of a dataset, and sends, shows or writes that plan. */
export async function changeValues(run: Run<ChangeFlags>, dataset: string, change: DatasetChange): Promise<ExitCode> {
	const { flags, app } = run;
	const { out, dryRun = false, allowTypeChange } = flags;
	const path = await pathOfPlan(run, out);
	const { changes, documents } = await writePlan(path, run, dataset, change);
	for (const note of change.notes()) app.io.note(note);
	if (changes === 0 && out === undefined) {
		app.io.note(`Nothing to change in ${documentsText(documents)}.`);
		return endBefore(run, NO_ROWS, undefined);
	}
	await using rows = await planRows(run, path, { ...CHANGES, allowTypeChange, name: change.manifest.name });
	const about = `To change: ${numberText(changes)} of ${documentsText(documents)}.`;
	if (!dryRun && out === undefined) return await sendChanges(run, rows, about);
	app.io.note(about);
	return await previewChanges(run, rows, newPlanPrinter(run));
}

type Written = { readonly changes: number; readonly documents: number };

async function writePlan(
	path: string,
	{ session, flags, app }: Run<ChangeFlags>,
	dataset: string,
	change: DatasetChange,
): Promise<Written> {
	const { service, baseUrl } = session;
	const request = service.searches.believing(session.request, flags.dryRun === true ? WARN : REFUSE);
	const api = await service.known(request);
	const header = { baseUrl, mode: "merge", manifest: change.manifest } as const;
	await using writer = await openPlanWriter(path, flags.force === true, header);
	app.monitor.enter("reading", "the documents of the dataset");
	let changes = 0;
	const keys = new KeyCounts();
	const onShort = refuseShort(dataset, "nothing was sent, because the list of documents");
	for await (const document of allDocuments({ api, request, datasetId: dataset }, { onShort })) {
		keys.add(document.metadata);
		const planned = plannedChange({ document, dataset, change }, service);
		if (planned === undefined) continue;
		changes += 1;
		await writer.change(planned);
	}
	refuseMissing(change.keys, keys, dataset);
	await writer.end({ unchanged: keys.documents - changes, failed: 0 });
	return { changes, documents: keys.documents };
}

type Changing = { readonly document: Document; readonly dataset: string; readonly change: DatasetChange };

/** The line of a plan for a document; undefined where it stays. */
function plannedChange({ document, dataset, change }: Changing, service: Service): PlannedChange | undefined {
	const { id, name, metadata: present, inexact } = document;
	if (present === undefined) return undefined;
	const found = change.of(present, document);
	if (found === undefined) return undefined;
	const common = { datasetId: dataset, documentId: id, name, line: found.line };
	const failing = ({ code, text }: RowError): PlannedChange => ({ ...common, action: "fail", path: name, code, text });
	if (found.error !== undefined) return failing(found.error);
	const { metadata } = found;
	const difference = differenceOf(present, metadata, service.api.dialect.flavour.normalise, inexact);
	if (difference.add.size + difference.change.size + difference.remove.size === 0) return undefined;
	try {
		refuseRounded(service, id, document, (key) => key !== change.replaced);
		refuseValues(service, metadata);
	} catch (error) {
		const refused = rowErrorOf(error);
		if (refused === undefined) throw error;
		return failing(refused);
	}
	return { ...common, action: "update", was: metadataHash(present, inexact), metadata, difference };
}

type ReadMap = { readonly map: ValueMap; readonly manifest: PlanHeader["manifest"] };

/**
 * Reads the table of `--map`. A row whose `new` is empty or equal to `old` changes nothing, and `!delete` removes the value.
 *
 * @throws CliError exit 2 where it can't be read; EarlyEnd where it has problems
 */
export async function readMap(run: Run<RunFlags>, path: string, key: string): Promise<ReadMap> {
	const { flags, settings, app } = run;
	const options = await manifestOptions("map", {}, settings);
	const checked = await checkAndReport(run, path, { ...options, deleteToken: DELETE_TOKEN });
	try {
		const map = new ValueMap();
		const reporter = problemReporter(flags.json === true, app);
		for await (const { metadata, line } of checked.read()) {
			const [from, to] = [metadata.get("old"), metadata.get("new")];
			if (from === undefined || to === undefined || sameValue(from, to)) continue;
			for (const { code, text } of valueFaults(new Map([[key, to]]), DELETE_TOKEN)) {
				const fault = { field: "new", code, text: `${show(key)} ${text}` };
				await reporter.report(problemOf(path, fault, { line, column: 1 }));
			}
			map.add(from, { to: to === DELETE_TOKEN ? undefined : to, line });
		}
		reporter.end();
		const stop = refusal({ ...checked, problems: checked.problems + reporter.count }, {}, "map");
		if (stop !== undefined) endBefore(run, checked, { ...stop, exit: Exit.manifest });
		const { rows, content } = checked;
		return { map, manifest: { name: path, sha256: content.sha256, rows } };
	} finally {
		await checked.close();
	}
}
