import { parseJson } from "../../json/parse-json.ts";
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, metadataOf } from "../../json/values.ts";
import type { RowStatus, Totals } from "../types.ts";
import { AFTER_CHECKSUM, BEFORE_CHECKSUM, checksum, CHECKSUM_LENGTH } from "./encode.ts";
import {
	FORMAT,
	type HeaderRecord,
	type NewerRecord,
	type OutcomeRecord,
	type ReadRecord,
	type RecordedManifest,
	type SentRecord,
} from "./records.ts";

/** Bytes before those that the checksum covers. */
const COVERED_FROM = BEFORE_CHECKSUM.length + CHECKSUM_LENGTH + AFTER_CHECKSUM.length;
const STATUSES: readonly Exclude<RowStatus, "failed">[] = ["updated", "unchanged", "uploaded", "removed"];
const WRITES: readonly SentRecord["write"][] = ["update", "upload", "remove"];

/**
 * Decodes one line, given without its end. Unknown members are ignored; a known member must have its type.
 *
 * @returns undefined where the checksum is wrong, or a member has another type
 */
export function decode(line: string | Uint8Array): ReadRecord | undefined {
	const covered = coveredBytes(line);
	if (covered === undefined) return undefined;
	let value: JsonValue;
	try {
		value = parseJson(`{${covered.toString("utf8")}`);
	} catch {
		return undefined;
	}
	return isJsonObject(value) ? recordOf(value) : undefined;
}

/** Whether the checksum of a line fits, given without its end. The record is not decoded, which takes far longer. */
export function isIntact(line: Uint8Array): boolean {
	return coveredBytes(line) !== undefined;
}

/** The bytes that the checksum covers; undefined where the checksum is wrong. */
function coveredBytes(line: string | Uint8Array): Buffer | undefined {
	const bytes = typeof line === "string" ? Buffer.from(line) : Buffer.from(line.buffer, line.byteOffset, line.length);
	const beginning = bytes.toString("latin1", 0, COVERED_FROM);
	const covered = bytes.subarray(COVERED_FROM);
	return beginning === `${BEFORE_CHECKSUM}${checksum(covered)}${AFTER_CHECKSUM}` ? covered : undefined;
}

function recordOf(members: JsonObject): ReadRecord | undefined {
	const kind = members["k"];
	switch (isText(kind) ? kind : "") {
		case "h":
			return headerOf(members);
		case "r":
			return outcomeOf(members);
		case "e": {
			const counts = countsOf(members["counts"]);
			const { code: exitCode, t: time } = members;
			return counts !== undefined && isCount(exitCode) && isText(time)
				? { kind: "end", counts, exitCode, time }
				: undefined;
		}
		case "reopen": {
			const { t: time, codes } = members;
			if (!isText(time) || (codes !== undefined && !isTexts(codes))) return undefined;
			return { kind: "reopen", time, ...(codes === undefined ? {} : { codes }) };
		}
		case "lost": {
			const { records, t: time } = members;
			return isCount(records) && isText(time) ? { kind: "lost", records, time } : undefined;
		}
		case "s":
			return sentOf(members);
		case "x": {
			const { order } = members;
			return isCount(order) ? { kind: "execution", order } : undefined;
		}
		case "u": {
			const { i: row, id: documentId, name: storedName } = members;
			return isCount(row) && isText(documentId) && isText(storedName)
				? { kind: "stored", row, documentId, storedName }
				: undefined;
		}
		default:
			return undefined;
	}
}

function headerOf(members: JsonObject): HeaderRecord | NewerRecord | undefined {
	const { v: version, run, tool, command, options, order, before: earlierMilliseconds, t: time } = members;
	if (!isCount(version) || version < FORMAT) return undefined;
	if (version > FORMAT) return { kind: "newer", version };
	const manifest = manifestOf(members["manifest"]);
	const target = members["target"];
	if (manifest === undefined || !isJsonObject(target)) return undefined;
	const baseUrl = target["base_url"];
	if (!isText(run) || !isText(tool) || !isText(command) || !isText(options) || !isText(time) || !isText(baseUrl)) {
		return undefined;
	}
	if (earlierMilliseconds !== undefined && !isCount(earlierMilliseconds)) return undefined;
	if (order !== undefined && !isCount(order)) return undefined;
	const number = order === undefined ? {} : { order };
	const execution = { ...number, ...(earlierMilliseconds === undefined ? {} : { earlierMilliseconds }), time };
	return { kind: "header", version: FORMAT, run, tool, command, manifest, target: { baseUrl }, options, ...execution };
}

function manifestOf(value: JsonValue | undefined): RecordedManifest | undefined {
	if (!isJsonObject(value)) return undefined;
	const {
		name,
		path,
		sha256,
		bytes,
		rows,
		invalid,
		duplicate_skipped: duplicateSkipped,
		other_rows: otherRows,
	} = value;
	if (!isText(name) || !isText(sha256) || (path !== null && !isText(path))) return undefined;
	if (!isCount(bytes) || !isCount(rows) || !isCount(invalid) || !isCount(duplicateSkipped)) return undefined;
	// More omitted rows than rows would make a count negative.
	if (invalid + duplicateSkipped > rows) return undefined;
	if (otherRows !== undefined && !isCount(otherRows)) return undefined;
	const others = otherRows === undefined ? {} : { otherRows };
	return { name, path, sha256, bytes, rows, invalid, duplicateSkipped, ...others };
}

function outcomeOf(members: JsonObject): OutcomeRecord | undefined {
	const { i: row, l: line, s, e: code, x: text, a: attempts, id: documentId = "", name: storedName, same } = members;
	const { un: untouched, d: datasetId } = members;
	if (!isCount(row) || !isCount(line) || line < 1 || !isCount(attempts) || !isText(documentId)) return undefined;
	if (storedName !== undefined && !isText(storedName)) return undefined;
	if (datasetId !== undefined && !isText(datasetId)) return undefined;
	if (same !== undefined && (same !== 1 || s !== "updated")) return undefined;
	const stored = storedName === undefined ? {} : { storedName };
	const isSame = same === undefined ? {} : ({ isSame: true } as const);
	const dataset = datasetId === undefined ? {} : { datasetId };
	const common = { kind: "outcome", row, line, attempts, documentId, ...dataset, ...stored, ...isSame } as const;
	if (untouched !== undefined && (untouched !== 1 || s !== "failed")) return undefined;
	if (s === "failed") {
		if (!isText(code) || !isText(text)) return undefined;
		return { ...common, status: s, error: { code, text }, ...(untouched === 1 ? { isUntouched: true } : {}) };
	}
	const status = STATUSES.find((each) => each === s);
	return status !== undefined && code === undefined && text === undefined ? { ...common, status } : undefined;
}

function countsOf(value: JsonValue | undefined): Totals | undefined {
	if (!isJsonObject(value)) return undefined;
	const { rows, updated, unchanged, uploaded, removed, failed } = value;
	const { invalid, duplicate_skipped: duplicateSkipped, pending, attempts } = value;
	if (!isCount(rows) || !isCount(updated) || !isCount(unchanged) || !isCount(uploaded) || !isCount(removed)) {
		return undefined;
	}
	if (!isCount(failed) || !isCount(invalid) || !isCount(duplicateSkipped)) return undefined;
	if (!isCount(pending) || !isCount(attempts)) return undefined;
	const settled = { updated, unchanged, uploaded, removed, failed };
	return { rows, ...settled, invalid, duplicateSkipped, pending, attempts };
}

function sentOf(members: JsonObject): SentRecord | undefined {
	const { i: row, l: line, d: datasetId, id: documentId = "", w, m, b, t: time } = members;
	const { f: fileName, z: size, n: namesakes } = members;
	const write = WRITES.find((each) => each === w);
	if (!isCount(row) || !isText(datasetId) || !isText(documentId) || write === undefined) return undefined;
	if (m !== undefined && !isJsonObject(m)) return undefined;
	if (b !== undefined && !isJsonObject(b)) return undefined;
	if (time !== undefined && !isCount(time)) return undefined;
	if (line !== undefined && !isCount(line)) return undefined;
	if (fileName !== undefined && !isText(fileName)) return undefined;
	if (size !== undefined && !isCount(size)) return undefined;
	if (namesakes !== undefined && !isTexts(namesakes)) return undefined;
	return {
		kind: "sent",
		row,
		...(line === undefined ? {} : { line }),
		datasetId,
		documentId,
		write,
		...(m === undefined ? {} : { metadata: metadataOf(m) }),
		...(b === undefined ? {} : { before: metadataOf(b) }),
		...(time === undefined ? {} : { time }),
		...(fileName === undefined ? {} : { fileName }),
		...(size === undefined ? {} : { size }),
		...(namesakes === undefined ? {} : { namesakes }),
	};
}

function isText(value: JsonValue | undefined): value is string {
	return typeof value === "string";
}

/** An exact whole number, 0 or more. */
function isCount(value: JsonValue | undefined): value is number {
	return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function isTexts(value: JsonValue | undefined): value is readonly string[] {
	return isJsonArray(value) && value.every(isText);
}
