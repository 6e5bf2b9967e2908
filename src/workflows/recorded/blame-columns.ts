import type { JsonValue } from "../../json/values.ts";
import type { RowStatus } from "../../outcomes.ts";
import type { Blame, Origin } from "../../plan/blame.ts";
import { valueText } from "../../plan/condition.ts";
import type { ListColumns } from "../lists/list-output.ts";

/** The row of a recorded run that wrote a document. */
export type Source = {
	readonly run: string;
	readonly command: string;
	/** the manifest's name, as it was typed */
	readonly manifest: string;
	/** line in the manifest, from 1; undefined in records of earlier releases */
	readonly line: number | undefined;
	/** when it was sent, or else when the run began, in epoch milliseconds */
	readonly time: number;
	/** the row's outcome; undefined if unknown */
	readonly status: RowStatus | undefined;
};

/** The document of a line. */
export type Place = { readonly baseUrl: string; readonly datasetId: string; readonly documentId: string };

/** A present value, the removal of the document, or an event. */
export type BlameLine = Place & {
	readonly origin: Origin<Source>;
	/** undefined for the whole document */
	readonly key?: string | undefined;
	readonly value?: JsonValue | undefined;
	readonly action?: string | undefined;
	readonly from?: JsonValue | undefined;
	readonly to?: JsonValue | undefined;
};

/** Columns that a narrow terminal leaves out: a run's name begins with its time, and runs show has the rest. */
const SPARE = ["time", "command", "manifest"];

const NOT_RECORDED = "not by a recorded run";

/** A line for each present value, and one for the removal of the document. */
export function presentLines(place: Place, { present, removal }: Blame<Source>): BlameLine[] {
	const values = present.map(({ key, value, origin }) => ({ ...place, key, value, origin }));
	return removal === undefined ? values : [...values, { ...place, origin: removal }];
}

/** A line for each event. */
export function eventLines(place: Place, { events }: Blame<Source>): BlameLine[] {
	return events.map((event) => ({ ...place, ...event }));
}

/** Columns of present values. @param withPlace whether each line names its document */
export function presentColumns(withPlace: boolean): ListColumns<BlameLine> {
	return {
		columns: ["key", "value", "run", "line", "manifest", "command", "time", "status", ...placeColumns(withPlace)],
		cells: (line) => {
			const { run, row, manifest, command, time, status } = sourceCells(line);
			const value = line.key === undefined ? ["", ""] : [line.key, valueText(line.value)];
			return [...value, run, row, manifest, command, time, status, ...placeCells(line, withPlace)];
		},
		spare: SPARE,
		times: ["time"],
		json: (line) => jsonOf(line, { key: line.key ?? null, value: line.value ?? null }),
	};
}

/** Columns of events. */
export function eventColumns(withPlace: boolean): ListColumns<BlameLine> {
	const columns = ["time", "run", "line", "key", "action", "from", "to", "manifest", "command", "status"];
	return {
		columns: [...columns, ...placeColumns(withPlace)],
		cells: (line) => {
			const { run, row, manifest, command, time, status } = sourceCells(line);
			const what = [line.key ?? "", line.action ?? "", valueText(line.from), valueText(line.to)];
			return [time, run, row, ...what, manifest, command, status, ...placeCells(line, withPlace)];
		},
		spare: SPARE,
		times: ["time"],
		json: ({ action = null, key = null, from = null, to = null, ...line }) => jsonOf(line, { action, key, from, to }),
	};
}

function placeColumns(withPlace: boolean): readonly string[] {
	return withPlace ? ["dataset_id", "base_url"] : [];
}

function placeCells({ datasetId, baseUrl }: Place, withPlace: boolean): readonly string[] {
	return withPlace ? [datasetId, baseUrl] : [];
}

type SourceCells = Readonly<Record<"run" | "row" | "manifest" | "command" | "time" | "status", string>>;

function sourceCells(line: BlameLine): SourceCells {
	const { by, isRecorded } = line.origin;
	const time = new Date(by.time).toISOString();
	const status = statusOf(line);
	if (!isRecorded) return { run: NOT_RECORDED, row: "", manifest: "", command: "", time, status };
	return { run: by.run, row: String(by.line ?? ""), manifest: by.manifest, command: by.command, time, status };
}

/** How certain it is, in words. A change by another client has the time at which it was seen. */
function statusOf({ origin: { by, isRecorded, isCertain }, key }: BlameLine): string {
	if (!isRecorded) return `seen by ${by.run}`;
	if (isCertain) return key === undefined ? "removed" : "certain";
	const why = by.status === "failed" ? "failed after it was sent" : "no answer is known";
	return `${key === undefined ? "removal " : ""}in doubt: ${why}`;
}

function jsonOf(line: Pick<BlameLine, keyof Place | "origin">, what: { readonly [name: string]: JsonValue }): string {
	const { baseUrl, datasetId, documentId } = line;
	const place = { base_url: baseUrl, dataset_id: datasetId, document_id: documentId };
	return JSON.stringify({ ...place, ...what, ...sourceMembers(line) });
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
