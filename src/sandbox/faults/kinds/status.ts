import { type Draft, type Header, withBody, withHeader, withStatus } from "../draft.ts";
import type { PlanParams } from "../plan-params.ts";
import { both, type FaultKind } from "../fault.ts";
import { isObject } from "../../json-text.ts";

const anyStatus = { least: 200, most: 999 };

/** Seconds from now, for dates from before 1970 to 2099. */
const anySeconds = { least: -2_000_000_000, most: 2_500_000_000 };

/** Answers with another status. */
export const statusKinds = {
	status: {
		summary: "a status, headers and a body that the plan gives",
		parameters:
			"status=500, reason, headers={NAME:TEXT or [TEXT,...]}, body=(text as it is, or JSON; default: an envelope with that code)",
		when: both,
		create: (params) => {
			const status = params.integer("status", 500, anyStatus);
			const reason = params.optionalText("reason");
			const headers = headersOf(params);
			const body = params.value("body");
			return {
				alterAnswer: (draft) => {
					const changed = withStatus(draft, status, reason);
					const text = body ?? { code: status, message: changed.reason };
					const named = { ...changed, headers: [...changed.headers, ...headers] };
					return bodied(named, typeof text === "string" ? text : JSON.stringify(text));
				},
			};
		},
	},
	"status-only": {
		summary: "the true body with another status: code 0 with an error status",
		parameters: "status=500",
		when: both,
		create: (params) => {
			const status = params.integer("status", 500, anyStatus);
			return { alterAnswer: (draft) => withStatus(draft, status) };
		},
	},
	throttle: {
		summary: "a status with Retry-After: in seconds, as a date in any form, or as any text",
		parameters: "status=429, seconds=1 from now, form=seconds|date|rfc850|asctime|none, or text=TEXT or [TEXT,...]",
		when: ["before", "after"],
		create: (params) => {
			const status = params.integer("status", 429, { least: 300, most: 599 });
			const seconds = params.integer("seconds", 1, anySeconds);
			const form = params.choice("form", ["seconds", "date", "rfc850", "asctime", "none"]);
			const literal = params.value("text");
			const texts = literal === undefined ? undefined : textsOf(params, "text", literal);
			const now = (): readonly string[] => {
				if (form === "none") return [];
				return [form === "seconds" ? String(seconds) : httpDate(new Date(Date.now() + seconds * 1000), form)];
			};
			return {
				alterAnswer: (draft) => {
					const changed = withStatus(draft, status);
					const headers = (texts ?? now()).map((text): Header => ["retry-after", text]);
					const named = { ...changed, headers: [...changed.headers, ...headers] };
					return bodied(named, JSON.stringify({ code: status, message: changed.reason }));
				},
			};
		},
	},
	redirect: {
		summary: "a redirect to an address: by default to the same one (a loop), or without an address",
		parameters: "status=302, to=TEXT, or null for no Location",
		when: both,
		create: (params) => {
			const status = params.integer("status", 302, { least: 300, most: 399 });
			const to = params.textOrNull("to");
			return {
				alterAnswer: (draft, { request }) => {
					const moved = bodied(withStatus(draft, status), "");
					return to === null ? moved : withHeader(moved, "location", to ?? request.url);
				},
			};
		},
	},
	empty: {
		summary: "a status without a body",
		parameters: "status=204",
		when: both,
		create: (params) => {
			const status = params.integer("status", 204, anyStatus);
			return { alterAnswer: (draft) => bodied(withStatus(draft, status), "") };
		},
	},
	"last-interim": {
		summary: "an interim status (1xx), and no other after it",
		parameters: "status=109",
		when: both,
		create: (params) => {
			const status = params.integer("status", 109, { least: 100, most: 199 });
			return { alterAnswer: (draft) => ({ ...withStatus(draft, status, "Interim"), last: true }) };
		},
	},
	html: {
		summary: "an HTML page instead of JSON: a login, or a proxy's error",
		parameters: "status=200, title=Sign in",
		when: both,
		create: (params) => {
			const [status, title] = [params.integer("status", 200, anyStatus), params.text("title", "Sign in")];
			const page = `<!doctype html>\n<html><head><title>${title}</title></head><body><h1>${title}</h1></body></html>\n`;
			return { alterAnswer: (draft) => withBody(withStatus(draft, status), page, "text/html; charset=utf-8") };
		},
	},
} satisfies Readonly<Record<string, FaultKind>>;

/** 204 and 304 have no body and no Content-Length. */
function bodied(draft: Draft, text: string): Draft {
	const bodiless = draft.status === 204 || draft.status === 304;
	return bodiless ? { ...withBody(draft, ""), framing: "bare" } : withBody(draft, text);
}

function headersOf(params: PlanParams): readonly Header[] {
	const headers = params.value("headers") ?? {};
	if (!isObject(headers)) throw params.error('has "headers" that are not an object');
	return Object.entries(headers).flatMap(([name, value]) =>
		textsOf(params, "headers", value).map((text): Header => [name.toLowerCase(), text]),
	);
}

function textsOf(params: PlanParams, name: string, value: unknown): readonly string[] {
	const texts: readonly unknown[] = Array.isArray(value) ? value : [value];
	return texts.map((text) => {
		if (typeof text !== "string") throw params.error(`has "${name}" that are not text`);
		return text;
	});
}

const days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/** A date in one of the three forms that recipients must understand (RFC 9110, 5.6.7). */
function httpDate(date: Date, form: "date" | "rfc850" | "asctime"): string {
	const preferred = date.toUTCString();
	if (form === "date") return preferred;
	// Sun, 06 Nov 1994 08:49:37 GMT
	const [day = "", number = "", month = "", year = "", time = ""] = preferred.split(/,? /);
	if (form === "asctime") return `${day} ${month} ${number.replace(/^0/, " ")} ${time} ${year}`;
	return `${days[date.getUTCDay()]}, ${number}-${month}-${year.slice(-2)} ${time} GMT`;
}
