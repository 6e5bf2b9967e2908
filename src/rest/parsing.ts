import type { JsonObject, JsonValue } from "../json/values.ts";

/** The states of parsing, by the names that RAGFlow shows up to v0.27. */
const RUNS = ["UNSTART", "RUNNING", "CANCEL", "DONE", "FAIL"] as const;

export type Run = (typeof RUNS)[number];

/** What a list shows of the parsing of a document. Members that it does not show are undefined. */
export type Parsing = {
	readonly run: Run | undefined;
	/** from 0 to 1; undefined also where parsing failed, as RAGFlow shows -1 then */
	readonly progress: number | undefined;
	/** lines of the service about what it did, the reason of a failure among them */
	readonly message: string | undefined;
	readonly chunkCount: number | undefined;
	readonly chunkMethod: string | undefined;
	/** whether questions find the document */
	readonly isEnabled: boolean | undefined;
};

/**
 * The states of v1.0, whose lists have `ingestion_status` in place of `run` (internal/handler/document.go; the code of
 * 2026-08-22 has `run` still). A document that waits, or that is about to stop, is at work.
 */
const OF_INGESTION: Readonly<Record<string, Run>> = {
	UNSTART: "UNSTART",
	CREATED: "RUNNING",
	SCHEDULED: "RUNNING",
	RUNNING: "RUNNING",
	STOPPING: "RUNNING",
	STOPPED: "CANCEL",
	COMPLETED: "DONE",
	FAILED: "FAIL",
};

/** Of a document as a list gives it. Undefined where the list shows nothing of it, as the documented API does. */
export function parsingOf(document: JsonObject): Parsing | undefined {
	const run = runOf(document["run"], document["ingestion_status"]);
	const chunkMethod = textIn(document["chunk_method"]) ?? textIn(document["parser_id"]);
	const progress = numberIn(document["progress"]);
	const chunkCount = numberIn(document["chunk_count"]);
	if (run === undefined && chunkMethod === undefined && progress === undefined && chunkCount === undefined) return;
	const message = textIn(document["progress_msg"]);
	const { status } = document as { readonly [member: string]: JsonValue | undefined };
	const isEnabled = status === "1" ? true : status === "0" ? false : undefined;
	return { run, progress, message, chunkCount, chunkMethod, isEnabled };
}

function runOf(run: JsonValue | undefined, ingestion: JsonValue | undefined): Run | undefined {
	if (typeof ingestion === "string" && Object.hasOwn(OF_INGESTION, ingestion)) return OF_INGESTION[ingestion];
	return RUNS.find((each) => each === run);
}

function textIn(value: JsonValue | undefined): string | undefined {
	return typeof value === "string" ? value : undefined;
}

function numberIn(value: JsonValue | undefined): number | undefined {
	return typeof value === "number" && value >= 0 ? value : undefined;
}
