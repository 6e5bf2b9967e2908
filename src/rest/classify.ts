import { type Answer, headerValues, type ParsedEnvelope } from "./answer.ts";
import {
	DATABASE_AWAY,
	type ErrorContext,
	type FlavourRequest,
	METADATA_REFUSED,
	PROXY_REFUSED,
	quoted,
	RestError,
	type RestErrorKind,
	safe,
} from "./errors.ts";
import type { Meaning } from "./flavour.ts";
import type { Flavour } from "./flavours.ts";

/** Capped at 300 years so that the value still fits a Date. */
const MOST_SECONDS = 9_999_999_999;

/** The three forms of a date in RFC 9110 (5.6.7): only the last has no zone, and it is GMT as well. */
const DATE = /^[a-z]{3,9},? [\w -]+ \d\d:\d\d:\d\d (?:gmt|\d{4})$/i;

/** Statuses that refuse the verb or the form: the service has another flavour. */
const OTHER_FLAVOUR = new Set([405, 415, 501]);

/** Server errors that no repetition helps: HTTP version, wrong configuration, a network's login page. */
const PERMANENT = new Set([505, 506, 511]);

/** Statuses of errors that may stand beside another code, which says more. */
const BESIDE_CODES = new Set([400, 404, 409, 422, 500]);

/** The context on which the meaning of an answer depends. */
type AnswerContext = {
	readonly flavour: Pick<Flavour, "meaning" | "hasStatuses">;
	readonly context: ErrorContext;
	/** epoch milliseconds */
	readonly now: number;
	/** whether the service has accepted the key before: a 401 may then have another cause */
	readonly isKeyAccepted?: boolean;
};

/** The envelope of a success, or the error that the answer means. The request itself plays no part. */
export function classifyAnswer(answer: Answer, about: AnswerContext): ParsedEnvelope | RestError {
	const read = classify(answer, about);
	if (about.isKeyAccepted !== true || !(read instanceof RestError) || read.code !== "KEY_REJECTED") return read;
	// RAGFlow from v0.25 on answers 401 if it can't look a key up (login_required in api/apps/__init__.py).
	const isRefused = typeof answer.envelope !== "string" && answer.envelope.code === 401;
	if (answer.status !== 401 && !isRefused) return read;
	return errorOf("doubted", read.code, read.message, answer.status);
}

/**
 * Whether an answer is RAGFlow's for a path without a route, so that the address is wrong. An id with a slash or another
 * special character, which is escaped in the path, may change the route: then only its row is wrong.
 *
 * Before v0.24 it is status 200 with code 100 and
 * `<NotFound '404: Not Found'>` (server_error_response in api/utils/api_utils.py, v0.21.1). From v0.24 on it is status 404
 * with code 404 and `Not Found: PATH` (not_found in api/apps/__init__.py, v0.24.0).
 */
export function isRouteMissing({ status, envelope }: Answer, path = ""): boolean {
	if (typeof envelope === "string" || /^[^?]*%/.test(path)) return false;
	const { code, message = "" } = envelope;
	if (code === 100) return message.startsWith("<NotFound '404: Not Found'");
	return status === 404 && code === 404 && message.startsWith("Not Found: /");
}

/** How servers that answer every request with status 200 say that a path does not accept a verb. */
export const NO_SUCH_VERB = /\bmethod\b.*\bnot (?:allowed|supported)\b|\bunsupported method\b/i;

/**
 * The error of an answer, as far as it is about the route.
 *
 * @param only the request, if other flavours send another. RAGFlow v1.0 says that the path is missing where the verb is
 */
export function errorOfRoute(error: RestError, answer: Answer, path: string, only?: FlavourRequest): RestError {
	const isMissing = isRouteMissing(answer, path);
	if (only === undefined) return isMissing ? notTheApi(error) : error;
	if (!isMissing && !isVerbRefused(answer)) return error;
	const { message, code, status } = error;
	return new RestError(message, { kind: "contradiction", code, status, unrouted: only });
}

export function notTheApi(error: RestError): RestError {
	const text = `${error.message}: this is not the API`;
	return new RestError(text, { kind: "not_the_api", code: "NOT_THE_API", status: error.status, cause: error });
}

function isVerbRefused({ status, envelope }: Answer): boolean {
	if (status === 405 || status === 501) return true;
	if (typeof envelope === "string") return false;
	return envelope.code === 405 || envelope.code === 501 || NO_SUCH_VERB.test(envelope.message ?? "");
}

function classify(answer: Answer, about: AnswerContext): ParsedEnvelope | RestError {
	const { status, envelope } = answer;
	const { context } = about;
	if (status < 200 || status > 299) {
		const isBeside = about.flavour.hasStatuses === true && BESIDE_CODES.has(status) && typeof envelope !== "string";
		const saysMore = isBeside && envelope.code !== 0 && envelope.code !== status;
		return saysMore ? classifyCode(envelope, answer, about) : classifyStatus(answer, about);
	}
	if (typeof envelope !== "string") return classifyCode(envelope, answer, about);
	const coding = headerValues(answer.headers, "content-encoding").find((value) => value.toLowerCase() !== "identity");
	if (coding === undefined && isHtml(answer)) {
		const text = `${context.host} returned HTML${quoted(title(answer.text), context)} instead of JSON`;
		return errorOf("not_the_api", "NOT_THE_API", text, status);
	}
	const what = coding === undefined ? envelope : `a body encoded as${quoted(coding, context)}, which was not asked for`;
	return errorOf("ambiguous", "BAD_ENVELOPE", `${context.host} answered ${status} with ${what}`, status);
}

function classifyCode(envelope: ParsedEnvelope, answer: Answer, about: AnswerContext): ParsedEnvelope | RestError {
	const { code, data } = envelope;
	const { status } = answer;
	const { flavour, context, now } = about;
	if (code === 0 && data !== false) return envelope;
	const said = `${context.host} answered code ${code}${quoted(envelope.message, context)}`;
	// A message of "2003" alone says nothing to a person. Its explanation is in the data.
	const message = typeof data === "string" && data.trim() !== "" ? `${said}, with${quoted(data, context)}` : said;
	// Some releases refuse a key with code 0 and data false.
	if (code === 0) return keyRejected(`${message} and data false`, status);
	const meaning = flavour.meaning(code, envelope.message ?? "");
	if (meaning === "key_refused") return keyRejected(message, status);
	if (meaning === "slow_down") return throttled(message, answer, now);
	const [kind, name = `CODE_${code}`] = ERRORS[meaning];
	return errorOf(kind, name, meaning === "database_away" ? `${message}: its database is away` : message, status);
}

/** The errors of the other meanings: their kinds, and their codes where these are not that of the answer. */
const ERRORS: Readonly<Record<Exclude<Meaning, "key_refused" | "slow_down">, readonly [RestErrorKind, string?]>> = {
	not_allowed: ["rejected", "FORBIDDEN"],
	not_found: ["rejected", "NOT_FOUND"],
	contradiction: ["contradiction"],
	passing: ["ambiguous"],
	database_away: ["ambiguous", DATABASE_AWAY],
	metadata_refused: ["rejected", METADATA_REFUSED],
	refused: ["rejected"],
};

function classifyStatus(answer: Answer, { context, now }: AnswerContext): RestError {
	const { status } = answer;
	const message = `${context.host} answered ${status}${quoted(reasonIn(answer), context)}`;
	if (status >= 300 && status < 400) return redirect(answer, context);
	if (status === 401) return keyRejected(message, status);
	// The API refuses in JSON: a page or a bare text is another program's.
	const isPage = /^\uFEFF?\s*[^\s{[]/.test(answer.text ?? "");
	if (status === 403 && isPage) {
		const who = `${message}, not as the API answers: a proxy or firewall before the service refused it`;
		return errorOf("rejected", PROXY_REFUSED, who, status);
	}
	if (status === 413 && isPage) {
		const who = `${message}: a proxy before the service takes no larger request (nginx: client_max_body_size)`;
		return errorOf("rejected", "HTTP_413", who, status);
	}
	if (status === 403) return errorOf("rejected", "FORBIDDEN", message, status);
	if (status === 404) return errorOf("rejected", "NOT_FOUND", message, status);
	if (OTHER_FLAVOUR.has(status)) return errorOf("contradiction", `HTTP_${status}`, message, status);
	if (status === 407) return errorOf("untrusted", "PROXY", `${message}: the proxy asks for credentials`, status);
	if (status === 429) return throttled(message, answer, now);
	if (status === 503) {
		const later = throttled(message, answer, now);
		if (later.retryAfter !== undefined) return later;
		const isForeign = typeof answer.envelope === "string";
		return new RestError(message, { kind: "ambiguous", code: "HTTP_503", status, isForeign });
	}
	const isDefinite = status >= 500 ? PERMANENT.has(status) : status >= 400 && status !== 408 && status !== 425;
	return errorOf(isDefinite ? "rejected" : "ambiguous", `HTTP_${status}`, message, status);
}

function keyRejected(message: string, status: number): RestError {
	return errorOf("untrusted", "KEY_REJECTED", `${message}: the API key is not accepted`, status);
}

function throttled(message: string, answer: Answer, now: number): RestError {
	const fields = headerValues(answer.headers, "retry-after");
	const wait = retryAfter(fields, headerValues(answer.headers, "date")[0], now);
	const code = answer.status >= 300 ? `HTTP_${answer.status}` : "CODE_429";
	return new RestError(message, { kind: "throttled", code, retryAfter: wait, status: answer.status });
}

function redirect(answer: Answer, context: ErrorContext): RestError {
	const location = headerValues(answer.headers, "location")[0];
	const to = location === undefined ? "" : ` to ${safe(withoutSecrets(location), context)}`;
	const message = `${context.host} answered ${answer.status}, a redirect${to}; set --base-url to the final address`;
	return errorOf("untrusted", "REDIRECT", message, answer.status);
}

/** A Location without credentials, query and fragment, which may contain tokens. */
function withoutSecrets(location: string): string {
	const plain = location.replace(/[?#].*$/s, "").replace(/^([^/]*\/\/)[^/]*@/, "$1");
	try {
		// The key must be found for masking even if the service percent-encoded it.
		return decodeURIComponent(plain);
	} catch {
		return plain;
	}
}

/** The reason that the service gives for an error, in HTML or in an envelope. */
function reasonIn(answer: Answer): string | undefined {
	if (isHtml(answer)) return title(answer.text);
	const { envelope } = answer;
	return typeof envelope === "string" ? undefined : envelope.message;
}

function isHtml(answer: Answer): boolean {
	if (/^\uFEFF?\s*</.test(answer.text ?? "")) return true;
	return headerValues(answer.headers, "content-type").some((type) => /^\s*text\/html\b/i.test(type));
}

function title(text: string | undefined): string | undefined {
	return /<title[^>]{0,200}>([^<]{1,500})/i.exec((text ?? "").slice(0, 20_000))?.[1];
}

function errorOf(kind: RestErrorKind, code: string, message: string, status: number): RestError {
	return new RestError(message, { kind, code, status });
}

/**
 * How long an answer asks the client to wait, in milliseconds: the longest time of its `Retry-After` fields.
 *
 * A field has whole seconds or a date (RFC 9110, 10.2.3). A date counts from the answer's own `Date`, because clocks differ.
 * Undefined if no field is well-formed.
 *
 * @param now epoch milliseconds, for answers without a `Date`
 */
export function retryAfter(fields: readonly string[], date: string | undefined, now: number): number | undefined {
	const base = (date === undefined ? undefined : dateOf(date)) ?? now;
	const waits = fields.flatMap((field) => waitOf(field.trim(), base) ?? []);
	return waits.length === 0 ? undefined : Math.max(...waits);
}

function waitOf(field: string, base: number): number | undefined {
	if (/^\d+$/.test(field)) return Math.min(MOST_SECONDS, Number(field)) * 1000;
	const date = dateOf(field);
	return date === undefined ? undefined : Math.max(0, date - base);
}

/** Epoch milliseconds of an HTTP date, or undefined. */
function dateOf(text: string): number | undefined {
	const date = DATE.test(text) ? Date.parse(/gmt$/i.test(text) ? text : `${text} GMT`) : Number.NaN;
	return Number.isNaN(date) ? undefined : date;
}
