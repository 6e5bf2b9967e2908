import type { JsonValue } from "../../json/values.ts";
import type { RowStatus } from "../../outcomes.ts";
import { valueText } from "../../plan/condition.ts";
import { type ListColumn, type ListShape, timeColumn } from "../lists/list-output.ts";
import type { App } from "../../app.ts";
import { CliError, Exit, reason } from "../../errors.ts";
import type { GlobalFlags } from "../../flags/flags.ts";
import { withFlags } from "../../flags/next-command.ts";
import type { BlamedLine } from "../../plan/blame.ts";
import { type WrittenRow, writesTo } from "../../run/recorded/recorded-rows.ts";
import type { RunFile } from "../../run/recorded/run-file.ts";
import { rememberedNormalise } from "../../run/service/service-memory.ts";
import { sendsPlan } from "../plan/open-plan.ts";
import { noteDamaged } from "./choose-run.ts";

/** The row of a recorded run that wrote a document. */
type Source = {
	readonly run: string;
	readonly command: string;
	/** the manifest's name, as it was typed */
	readonly manifest: string;
	/** line in the manifest, from 1; undefined where no recorded run wrote it */
	readonly line: number | undefined;
	/** when it was sent, in epoch milliseconds */
	readonly time: number;
	/** the row's outcome; undefined if unknown */
	readonly status: RowStatus | undefined;
};

/** A write of a recorded run. */
export type FoundWrite = ReturnType<typeof writeOf>;

/**
 * The writes of all recorded runs to a document. A run that can't be read does not hide the others.
 *
 * @param baseUrl only this address; undefined for all
 */
export async function recordedWrites(
	{ documentId, baseUrl }: { readonly documentId: string; readonly baseUrl: string | undefined },
	flags: GlobalFlags,
	app: App,
): Promise<readonly FoundWrite[]> {
	const settings = await app.settings(flags);
	const runs = app.runs(settings);
	const writes: FoundWrite[] = [];
	const all = await runs.files();
	noteDamaged(runs, flags, app);
	for (const file of all.toReversed()) {
		const { run } = file;
		if (baseUrl !== undefined && file.baseUrl !== baseUrl) continue;
		try {
			const normalise = await rememberedNormalise(settings.stateDir?.value, file.baseUrl);
			const recorded = await runs.journal(run);
			const written = recorded === undefined ? [] : await writesTo(recorded, documentId, normalise);
			// A rename changes no key.
			writes.push(...written.filter(({ write }) => write !== "rename").map((one) => writeOf(one, file)));
		} catch (error) {
			if (!(error instanceof CliError)) throw error;
			const mend = withFlags(`ragtag runs repair ${run}`, flags);
			const hint = error.exit === Exit.foreign ? "Use the version of ragtag that wrote it." : `To include it: ${mend}`;
			app.io.note(`warning: run ${run} is left out: ${reason(error)}. ${hint}`);
		}
	}
	return writes;
}

function writeOf(written: WrittenRow, { run, command, manifest, baseUrl, order: began }: RunFile) {
	const { line, write, metadata, before, time, status, datasetId, order } = written;
	// An upload creates its document, which had nothing before.
	const created = status === "uploaded" || write === "upload" ? new Map<string, never>() : undefined;
	const by: Source = { run, command, manifest: manifestOf(command, manifest), line, time, status };
	return {
		by,
		sent: write === "remove" ? undefined : metadata,
		before: before ?? created,
		isCertain: status !== undefined && status !== "failed",
		datasetId,
		baseUrl,
		/** number of the execution that sent it; the records of a run's first execution have none of their own */
		order: order === 0 ? began : order,
	};
}

/** The file of a row's line: the rows of a plan keep the lines of the manifest that it was made from. */
function manifestOf(command: string, { name, source }: RunFile["manifest"]): string {
	return sendsPlan(command) ? (source ?? `manifest of ${name}`) : name;
}

/** The writes by document: one id may be in several datasets, and at several services. */
export function byDocument(found: readonly FoundWrite[]): FoundWrite[][] {
	const documents = new Map<string, FoundWrite[]>();
	// By execution: a resumed run may have written after runs that began later than it, and a clock may have been wrong.
	for (const write of found.toSorted((a, b) => a.order - b.order)) {
		const place = JSON.stringify([write.baseUrl, write.datasetId]);
		const writes = documents.get(place) ?? [];
		writes.push(write);
		documents.set(place, writes);
	}
	return [...documents.values()];
}

/** The document of a line. */
export type Place = { readonly baseUrl: string; readonly datasetId: string; readonly documentId: string };

/** A present value, the removal of the document, or an event. */
export type BlameLine = Place & BlamedLine<Source>;

const NOT_RECORDED = "not by a recorded run";

type BlameColumn = ListColumn<BlameLine>;

/** A cell that is empty for a change that no recorded run made. */
function recorded(of: (by: Source) => string): BlameColumn["cell"] {
	return ({ origin: { by, isRecorded } }) => (isRecorded ? of(by) : "");
}

const RUN: BlameColumn = {
	name: "run",
	cell: (line) => recorded(({ run }) => run)(line) || NOT_RECORDED,
	isTyped: true,
};
const LINE: BlameColumn = { name: "line", cell: recorded(({ line }) => String(line ?? "")) };
const KEY: BlameColumn = { name: "key", cell: ({ key = "" }) => key };
const STATUS: BlameColumn = { name: "status", cell: statusOf };
// A narrow terminal leaves these out: a run's name begins with its time, and runs show has the rest.
const MANIFEST: BlameColumn = { name: "manifest", cell: recorded(({ manifest }) => manifest), spare: 1 };
const COMMAND: BlameColumn = { name: "command", cell: recorded(({ command }) => command), spare: 2 };
const TIME: BlameColumn = {
	...timeColumn("time", ({ origin }: BlameLine) => new Date(origin.by.time).toISOString()),
	spare: 3,
};
const PLACE: readonly BlameColumn[] = [
	{ name: "dataset_id", cell: ({ datasetId }) => datasetId, isTyped: true },
	{ name: "base_url", cell: ({ baseUrl }) => baseUrl },
];

const VALUE: BlameColumn = { name: "value", cell: ({ to }) => valueText(to) };
const CHANGE: readonly BlameColumn[] = [
	{ name: "action", cell: ({ action = "" }) => action },
	{ name: "from", cell: ({ from }) => valueText(from) },
	{ name: "to", cell: ({ to }) => valueText(to) },
];

/** Columns of events, or of present values. @param withPlace whether each line names its document */
export function blameShape(areEvents: boolean, withPlace: boolean): ListShape<BlameLine> {
	const present = [KEY, VALUE, RUN, LINE, MANIFEST, COMMAND, TIME, STATUS];
	const events = [TIME, RUN, LINE, KEY, ...CHANGE, MANIFEST, COMMAND, STATUS];
	return {
		columns: [...(areEvents ? events : present), ...(withPlace ? PLACE : [])],
		json: (line) => {
			const { baseUrl, datasetId, documentId, action = null, key = null, from = null, to = null } = line;
			const place = { base_url: baseUrl, dataset_id: datasetId, document_id: documentId };
			const what = areEvents ? { action, key, from, to } : { key, value: to };
			return JSON.stringify({ ...place, ...what, ...sourceMembers(line) });
		},
	};
}

/** How certain it is, in words. A change by another client has the time at which it was seen. */
function statusOf({ origin: { by, isRecorded, isCertain }, key }: BlameLine): string {
	if (!isRecorded) return `seen by ${by.run}`;
	if (isCertain) return key === undefined ? "removed" : "certain";
	const why = by.status === "failed" ? "failed after it was sent" : "no answer is known";
	return `${key === undefined ? "removal " : ""}in doubt: ${why}`;
}

/** The members of JSON that say who set a value. */
export function sourceMembers({ origin }: Pick<BlameLine, "origin">): { readonly [name: string]: JsonValue } {
	const { by, isRecorded, isCertain } = origin;
	const { run, command, manifest, line: row } = by;
	const source = isRecorded
		? { run, command, manifest, line: row ?? null, seen_by: null }
		: { run: null, command: null, manifest: null, line: null, seen_by: run };
	return { ...source, time: new Date(by.time).toISOString(), certain: isCertain };
}
