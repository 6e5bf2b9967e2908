import { isJsonArray, isJsonObject } from "../json/values.ts";
import { classifyAnswer } from "./classify.ts";
import { type Answer, type ParsedEnvelope, readEnvelope } from "./answer.ts";
import { DATABASE_AWAY, RestError, type ErrorContext } from "./errors.ts";
import { type Flavour, NOT_OWNED, type DatasetListStyle, type ProbeAnswer } from "./flavours.ts";

/** A dataset and a document that nobody has: whatever is asked of them changes nothing. */
export const UNKNOWN_ID = "0".repeat(32);

/** How servers that answer every request with status 200 say that a path does not take a verb. */
const noSuchVerb = /\bmethod\b.*\bnot (?:allowed|supported)\b|\bunsupported method\b/i;

/** Members of a dataset that only RAGFlow has: two of them are no chance. */
const ITS_MEMBERS = ["chunk_method", "embedding_model", "parser_config"];

/** Statuses of proxies, which say nothing about the service behind them. */
const ofProxies = new Set([408, 502, 503, 504]);

/**
 * Reads the answer to an update of a document that nobody has.
 *
 * @throws RestError where the answer tells nothing about the service: a refused key, a request to come later
 */
export function readProbe(answer: Answer, flavour: Flavour, place: ErrorContext): ProbeAnswer {
	const read = telling(answer, flavour, place);
	const envelope = readEnvelope(answer.text);
	if (answer.status !== 200 || typeof envelope === "string") return "other";
	const { code, message = "" } = envelope;
	if (code === 100) return /\b405\b/.test(message) ? "wrong_verb" : "taken";
	// No release of RAGFlow says that it has updated a document that nobody has.
	if (!(read instanceof RestError)) return "other";
	if (code === 102 && NOT_OWNED.test(message)) return "in_its_words";
	// Codes that only repeat an HTTP status are another server's way to say that there is no such route, as are these words.
	return [404, 405, 501].includes(code) || noSuchVerb.test(message) ? "other" : "taken";
}

/**
 * How a list of datasets is answered.
 *
 * RAGFlow gives each dataset `chunk_method`, `embedding_model` and `parser_config` (the list of api/apps/sdk/dataset.py,
 * later of api/apps/services/dataset_api_service.py), and no such list a message (get_result in api/utils/api_utils.py),
 * v0.15 to v0.27.
 */
export function datasetListStyle({ data, message, whole }: ParsedEnvelope): DatasetListStyle {
	const first = isJsonArray(data) ? data[0] : undefined;
	const members = isJsonObject(first) ? ITS_MEMBERS.filter((name) => Object.hasOwn(first, name)) : [];
	if (members.length > 1) return "ragflow";
	const hasCount = Object.hasOwn(whole, "total_datasets");
	return message !== undefined && message !== "" && !hasCount ? "documented" : "unknown";
}

/**
 * What the answer to an update of a document that is not in a dataset tells about the right to update that dataset.
 *
 * @throws RestError as `readProbe`
 */
export function readRight(answer: Answer, flavour: Flavour, place: ErrorContext): "may" | "may_not" | "unknown" {
	const read = telling(answer, flavour, place);
	if (!(read instanceof RestError)) return "unknown";
	// A bare 404 comes from whatever has no such route, and tells nothing of rights.
	if (read.code === "NOT_FOUND") return typeof readEnvelope(answer.text) === "string" ? "unknown" : "may";
	return read.code === "FORBIDDEN" ? "may_not" : "unknown";
}

function telling(answer: Answer, flavour: Flavour, place: ErrorContext): ReturnType<typeof classifyAnswer> {
	const read = classifyAnswer(answer, flavour, place, Date.now());
	if (!(read instanceof RestError)) return read;
	if (
		read.code === "KEY_REJECTED" ||
		read.code === DATABASE_AWAY ||
		read.kind === "throttled" ||
		ofProxies.has(answer.status)
	)
		throw read;
	return read;
}
