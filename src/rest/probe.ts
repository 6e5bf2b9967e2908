import { type Answer, classifyAnswer } from "./classify.ts";
import { readEnvelope } from "./envelope.ts";
import { RestError } from "./errors.ts";
import type { Flavour, ProbeAnswer } from "./flavours.ts";
import type { Place } from "./place.ts";

/** A dataset and a document that nobody has: whatever is asked of them changes nothing. */
export const nobody = "0".repeat(32);

/** Statuses of proxies, which say nothing about the service behind them. */
const ofProxies = new Set([408, 502, 503, 504]);

/**
 * Reads the answer to an update of a document that nobody has.
 *
 * @throws RestError where the answer tells nothing about the service: a refused key, a request to come later
 */
export function readProbe(answer: Answer, flavour: Flavour, place: Place): ProbeAnswer {
	const read = telling(answer, flavour, place);
	const envelope = readEnvelope(answer.text);
	if (answer.status !== 200 || typeof envelope === "string") return "other";
	if (!(read instanceof RestError)) return "taken";
	if (envelope.code === 100) return /\b405\b/.test(envelope.message ?? "") ? "wrong_verb" : "taken";
	// Codes that only repeat an HTTP status are another server's way to say that there is no such route.
	return [404, 405, 501].includes(envelope.code) ? "other" : "taken";
}

/**
 * What the answer to an update of a document that is not in a dataset tells about the right to update that dataset.
 *
 * @throws RestError as `readProbe`
 */
export function readRight(answer: Answer, flavour: Flavour, place: Place): "may" | "may_not" | "unknown" {
	const read = telling(answer, flavour, place);
	if (!(read instanceof RestError)) return "unknown";
	// A bare 404 comes from whatever has no such route, and tells nothing of rights.
	if (read.code === "NOT_FOUND") return typeof readEnvelope(answer.text) === "string" ? "unknown" : "may";
	return read.code === "FORBIDDEN" ? "may_not" : "unknown";
}

function telling(answer: Answer, flavour: Flavour, place: Place): ReturnType<typeof classifyAnswer> {
	const read = classifyAnswer(answer, flavour, place, Date.now());
	if (!(read instanceof RestError)) return read;
	if (read.code === "KEY_REJECTED" || read.kind === "throttled" || ofProxies.has(answer.status)) throw read;
	return read;
}
