import { isJsonArray, isJsonObject } from "../json/values.ts";
import type { Answer, ParsedEnvelope } from "./answer.ts";
import { classifyAnswer, isRouteMissing, NO_SUCH_VERB } from "./classify.ts";
import { DATABASE_AWAY, type ErrorContext, RestError } from "./errors.ts";
import { type DatasetListStyle, type Flavour, NOT_OWNED, type ProbeAnswer } from "./flavours.ts";

/** The id of a dataset and of a document that do not exist, so that a request about them changes nothing. */
export const UNKNOWN_ID = "0".repeat(32);

/** Members of a dataset that only RAGFlow has. Two of them are no coincidence. */
const RAGFLOW_MEMBERS = ["chunk_method", "embedding_model", "parser_config"];

/** Statuses of proxies, which say nothing about the service that the proxy forwards to. */
const OF_PROXIES = new Set([408, 502, 503, 504]);

/**
 * Reads the answer to an update of a document that does not exist.
 *
 * @throws RestError if the answer says nothing about the flavour: a refused key, a request to come later
 */
export function readProbe(answer: Answer, flavour: Flavour, context: ErrorContext): ProbeAnswer {
	const read = classifyProbe(answer, flavour, context);
	const { envelope } = answer;
	if (typeof envelope === "string") return "other";
	const { code, message = "" } = envelope;
	// RAGFlow v1.0 may give a status beside such a code.
	if (code === 102 && NOT_OWNED.test(message)) return "in_its_words";
	if (answer.status === 404 && isRouteMissing(answer)) return "no_route";
	if (answer.status !== 200) return "other";
	if (code === 100) return /\b405\b/.test(message) ? "wrong_verb" : "taken";
	// No release of RAGFlow reports an update of a document that does not exist.
	if (!(read instanceof RestError)) return "other";
	// Other servers report a missing route by a code that repeats an HTTP status, or by these words.
	return [404, 405, 501].includes(code) || NO_SUCH_VERB.test(message) ? "other" : "taken";
}

/**
 * The style of a list of datasets.
 *
 * RAGFlow gives each dataset `chunk_method`, `embedding_model` and `parser_config` (the list of
 * api/apps/sdk/dataset.py, later of api/apps/services/dataset_api_service.py). Its lists have no message (get_result in
 * api/utils/api_utils.py). Both hold from v0.15 to v0.27.
 */
export function datasetListStyle({ data, message, whole }: ParsedEnvelope): DatasetListStyle {
	const first = isJsonArray(data) ? data[0] : undefined;
	const members = isJsonObject(first) ? RAGFLOW_MEMBERS.filter((name) => Object.hasOwn(first, name)) : [];
	if (members.length > 1) return "ragflow";
	const hasCount = Object.hasOwn(whole, "total_datasets");
	return message !== undefined && message !== "" && !hasCount ? "documented" : "unknown";
}

/**
 * Whether the key may update a dataset, by the answer to an update of a document that the dataset does not have.
 *
 * @throws RestError as `readProbe`
 */
export function readRight(answer: Answer, flavour: Flavour, context: ErrorContext): "may" | "may_not" | "unknown" {
	const read = classifyProbe(answer, flavour, context);
	if (!(read instanceof RestError)) return "unknown";
	// A 404 without an envelope comes from a server without such a route, and says nothing about rights.
	if (read.code === "NOT_FOUND") return typeof answer.envelope === "string" ? "unknown" : "may";
	return read.code === "FORBIDDEN" ? "may_not" : "unknown";
}

function classifyProbe(answer: Answer, flavour: Flavour, context: ErrorContext): ParsedEnvelope | RestError {
	const read = classifyAnswer(answer, { flavour, context, now: Date.now() });
	if (!(read instanceof RestError)) return read;
	const saysNothing = read.kind === "throttled" || ["KEY_REJECTED", DATABASE_AWAY].includes(read.code);
	if (saysNothing || OF_PROXIES.has(answer.status)) throw read;
	return read;
}
