import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { crc32 } from "node:zlib";
import { jsonObjectOf } from "../../json/parse-json.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../../json/values.ts";
import { writeWhole } from "../../write-whole.ts";
import { isRunId } from "../recorded/run-file.ts";
import type { RunStore } from "../recorded/run-store.ts";
import { isAbsent } from "../storage/quick-files.ts";

/** The documents that one execution of a run has touched, as sorted hashes. */
type ExecutionTouches = {
	/** its number in the order of all executions */
	readonly order: number;
	/** written, removed or uploaded: sent, and not certainly refused */
	readonly written: Float64Array;
	readonly unchanged: Float64Array;
};

/** The run that an undo takes back, and whether it has done so completely. */
export type Undone = { readonly run: string; readonly isComplete: boolean };

/** The documents that a run has touched. */
export type RunTouches = {
	readonly run: string;
	readonly baseUrl: string;
	readonly executions: readonly ExecutionTouches[];
	/** present in an undo whose record was removed */
	readonly undoes?: Undone | undefined;
};

/** The folder of these lists, next to the folders of runs. A list outlives the record of its run while an older run needs it. */
const FOLDER = ".touched";

/** Increased when the form of a list changes: an older list is then made anew. */
const SCHEMA = 1;

const BYTES = Float64Array.BYTES_PER_ELEMENT;

export function listPath(runs: RunStore, run: string): string {
	return runs.path(FOLDER, run);
}

export function listNames(runs: RunStore): string[] {
	try {
		return readdirSync(runs.path(FOLDER)).filter(isRunId);
	} catch (error) {
		if (isAbsent(error)) return [];
		throw error;
	}
}

/** Writes a list: a line of JSON, then the hashes. The file is complete or absent. */
export async function writeList(
	runs: RunStore,
	{ run, baseUrl, executions, undoes }: RunTouches,
	stamp: string,
): Promise<void> {
	const hashes = Buffer.concat(executions.flatMap(({ written, unchanged }) => [bytesOf(written), bytesOf(unchanged)]));
	const listed = executions.map(({ order, written, unchanged }) => [order, written.length, unchanged.length]);
	const crc = checksum(listed, hashes);
	const head: JsonObject = {
		schema: SCHEMA,
		base_url: baseUrl,
		stamp,
		crc,
		executions: listed,
		...(undoes && { undoes: undoes.run, undone_whole: undoes.isComplete }),
	};
	mkdirSync(runs.path(FOLDER), { recursive: true, mode: 0o700 });
	await writeWhole(listPath(runs, run), Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), hashes]));
}

function checksum(executions: readonly JsonValue[], hashes: Uint8Array): number {
	return crc32(hashes, crc32(JSON.stringify(executions)));
}

function bytesOf({ buffer, byteOffset, byteLength }: Float64Array): Buffer {
	return Buffer.from(buffer, byteOffset, byteLength);
}

type KeptList = { readonly touches: RunTouches; readonly stamp: string };

/** @returns undefined where there is no list, "damaged" where this version has not written it whole */
export function readList(runs: RunStore, run: string): KeptList | "damaged" | undefined {
	let bytes: Buffer;
	try {
		bytes = readFileSync(listPath(runs, run));
	} catch (error) {
		if (isAbsent(error)) return undefined;
		throw error;
	}
	const end = bytes.indexOf("\n");
	const head = jsonObjectOf(bytes.toString("utf8", 0, Math.max(0, end)));
	if (!isJsonObject(head) || head["schema"] !== SCHEMA) return "damaged";
	const { base_url: baseUrl, stamp, crc, executions: listed, undoes, undone_whole: whole } = head;
	if (typeof baseUrl !== "string" || typeof stamp !== "string" || !isJsonArray(listed)) return "damaged";
	const hashes = bytes.subarray(end + 1);
	if (checksum(listed, hashes) !== crc) return "damaged";
	let at = hashes.byteOffset;
	const take = (length: number): Float64Array => {
		const part = new Float64Array(hashes.buffer.slice(at, at + length * BYTES));
		at += length * BYTES;
		return part;
	};
	const executions: ExecutionTouches[] = [];
	for (const entry of listed) {
		const [order, written, unchanged] = isJsonArray(entry) ? entry : [];
		if (typeof order !== "number" || typeof written !== "number" || typeof unchanged !== "number") return "damaged";
		executions.push({ order, written: take(written), unchanged: take(unchanged) });
	}
	const undone = typeof undoes === "string" ? { run: undoes, isComplete: whole === true } : undefined;
	return { touches: { run, baseUrl, executions, undoes: undone }, stamp };
}
