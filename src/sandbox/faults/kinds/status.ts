import { type Draft, type Header, withBody, withHeader, withStatus } from "../draft.ts";
import type { PlanParams } from "../plan-params.ts";
import { httpDate } from "../http-date.ts";
import { both, type Kind } from "../kind.ts";
import { isObject } from "../../object.ts";

const anyStatus = { least: 200, most: 999 };

/** Seconds: a date in 2099 and before, and 1970 and after. */
const anySeconds = { least: -2_000_000_000, most: 2_500_000_000 };

/** Answers of another status. */
export const statusKinds = {
	status: {
		about: "a status, headers and a body of the plan's choosing",
		takes:
			"status=500, reason, headers={NAME:TEXT or [TEXT,...]}, body=(an envelope of that code; text as it is; other JSON)",
		when: both,
		make: (given) => {
			const status = given.integer("status", 500, anyStatus);
			const reason = given.maybeText("reason");
			const headers = headersOf(given);
			const body = given.value("body");
			return {
				spoil: (draft) => {
					const changed = withStatus(draft, status, reason);
					const text = body ?? { code: status, message: changed.reason };
					const named = { ...changed, headers: [...changed.headers, ...headers] };
					return bodied(named, typeof text === "string" ? text : JSON.stringify(text));
				},
			};
		},
	},
	"status-only": {
		about: "the true body under another status: code 0 with an error",
		takes: "status=500",
		when: both,
		make: (given) => {
			const status = given.integer("status", 500, anyStatus);
			return { spoil: (draft) => withStatus(draft, status) };
		},
	},
	throttle: {
		about: "a status with Retry-After, in seconds or as a date so many seconds from now, in any form, or as any text",
		takes: "status=429, seconds=1, form=seconds|date|rfc850|asctime|none, text or [text,...] in its place",
		when: ["before", "after"],
		make: (given) => {
			const status = given.integer("status", 429, { least: 300, most: 599 });
			const seconds = given.integer("seconds", 1, anySeconds);
			const form = given.choice("form", ["seconds", "date", "rfc850", "asctime", "none"]);
			const literal = given.value("text");
			const texts = literal === undefined ? undefined : textsOf(given, "text", literal);
			const now = (): readonly string[] => {
				if (form === "none") return [];
				return [form === "seconds" ? String(seconds) : httpDate(new Date(Date.now() + seconds * 1000), form)];
			};
			return {
				spoil: (draft) => {
					const changed = withStatus(draft, status);
					const headers = (texts ?? now()).map((text): Header => ["retry-after", text]);
					const named = { ...changed, headers: [...changed.headers, ...headers] };
					return bodied(named, JSON.stringify({ code: status, message: changed.reason }));
				},
			};
		},
	},
	redirect: {
		about: "a redirect to an address: the same one again unless told (a loop), or to none",
		takes: "status=302, to=TEXT, or null for no Location",
		when: both,
		make: (given) => {
			const status = given.integer("status", 302, { least: 300, most: 399 });
			const to = given.value("to");
			if (to !== undefined && to !== null && typeof to !== "string")
				throw given.wrong('has a "to" that is neither text nor null');
			return {
				spoil: (draft, { asked }) => {
					const moved = bodied(withStatus(draft, status), "");
					return to === null ? moved : withHeader(moved, "location", to ?? asked.url);
				},
			};
		},
	},
	empty: {
		about: "a status without any body",
		takes: "status=204",
		when: both,
		make: (given) => {
			const status = given.integer("status", 204, anyStatus);
			return { spoil: (draft) => bodied(withStatus(draft, status), "") };
		},
	},
	"last-interim": {
		about: "an interim status (1xx) as the last one",
		takes: "status=109",
		when: both,
		make: (given) => {
			const status = given.integer("status", 109, { least: 100, most: 199 });
			return { spoil: (draft) => ({ ...withStatus(draft, status, "Interim"), last: true }) };
		},
	},
	html: {
		about: "a page for people in place of JSON: a login, or a proxy's error",
		takes: "status=200, title=Sign in",
		when: both,
		make: (given) => {
			const [status, title] = [given.integer("status", 200, anyStatus), given.text("title", "Sign in")];
			const page = `<!doctype html>\n<html><head><title>${title}</title></head><body><h1>${title}</h1></body></html>\n`;
			return { spoil: (draft) => withBody(withStatus(draft, status), page, "text/html; charset=utf-8") };
		},
	},
} satisfies Readonly<Record<string, Kind>>;

/** 204 and 304 have no body and tell no length. */
function bodied(draft: Draft, text: string): Draft {
	const bodiless = draft.status === 204 || draft.status === 304;
	return bodiless ? { ...withBody(draft, ""), framing: "bare" } : withBody(draft, text);
}

function headersOf(given: PlanParams): readonly Header[] {
	const headers = given.value("headers") ?? {};
	if (!isObject(headers)) throw given.wrong('has "headers" that are not an object');
	return Object.entries(headers).flatMap(([name, value]) =>
		textsOf(given, "headers", value).map((text): Header => [name.toLowerCase(), text]),
	);
}

function textsOf(given: PlanParams, name: string, value: unknown): readonly string[] {
	const texts: readonly unknown[] = Array.isArray(value) ? value : [value];
	return texts.map((text) => {
		if (typeof text !== "string") throw given.wrong(`has "${name}" that are not text`);
		return text;
	});
}
