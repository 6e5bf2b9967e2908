import * as v from "valibot";
import { bodyForms } from "../body-forms.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../json/values.ts";
import type { MaxChanges, Policy } from "../policy.ts";
import { parseRateSetting, RATE_FORMS, type RateSetting } from "../rates.ts";
import { millisecondsIn } from "../text/times.ts";
import { alternatives } from "../text/words.ts";
import { limiterUrl, pingUrl } from "./address.ts";
import { membersOf, readBy } from "./yaml-file.ts";

/** A map of names of the user: valibot's own record leaves out those that an object inherits. */
function mapOf<Schema extends v.GenericSchema>(values: Schema) {
	const entries = v.transform((object: JsonObject) => new Map(Object.entries<unknown>(object)));
	return v.pipe(v.custom<JsonObject>(isJsonObject, "a map of names"), entries, v.map(v.string(), values));
}

/** An object of these members alone. */
function objectOf<Entries extends v.ObjectEntries>(entries: Entries, where = "") {
	const known = `known: ${Object.keys(entries).join(", ")}`;
	return membersOf(entries, (name) => `unknown member ${JSON.stringify(name)}${where}; ${known}`);
}

const TEXT = v.pipe(
	v.string("text (put it in quotes if it looks like a number)"),
	v.nonEmpty("text that is not empty"),
);

/** An empty list is refused: it was probably left empty by mistake. */
function listOf<Schema extends v.GenericSchema>(items: Schema, what: string) {
	const message = `${what}, with at least one`;
	return v.pipe(v.array(items, message), v.minLength(1, message));
}

const KEYS = v.pipe(
	listOf(v.string("keys as text (put those in quotes that look like numbers)"), "a list of keys"),
	v.transform((keys): ReadonlySet<string> => new Set(keys)),
);

const VALUES = listOf(v.custom<JsonValue>(isJson, "values that JSON has"), "a list of the values that are allowed");

/** YAML has numbers that JSON has not. */
function isJson(value: unknown): boolean {
	if (typeof value === "object" && value !== null) return Object.values(value).every(isJson);
	return typeof value !== "number" || Number.isFinite(value);
}

function maxChanges(value: unknown): MaxChanges | undefined {
	if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return { unit: "documents", value };
	const percent = typeof value === "string" ? Number(/^(\d+(?:\.\d+)?) ?%$/.exec(value)?.[1]) : Number.NaN;
	return percent <= 100 ? { unit: "percent", value: percent } : undefined;
}

const YES_OR_NO = v.boolean("true or false");

const POLICY = v.pipe(
	objectOf(
		{
			protected: v.optional(KEYS),
			allowed: v.optional(mapOf(VALUES)),
			required: v.optional(KEYS),
			max_changes: v.optional(readBy(maxChanges, 'a whole number of documents, or a share of the rows such as "5%"')),
			no_clearing: v.optional(YES_OR_NO),
		},
		" in policy",
	),
	v.transform((policy): Policy => ({
		protectedKeys: policy.protected ?? new Set(),
		allowed: policy.allowed ?? new Map(),
		required: policy.required ?? new Set(),
		maxChanges: policy.max_changes,
		noClearing: policy.no_clearing ?? false,
	})),
);

const PROFILE = objectOf({
	base_url: v.optional(TEXT),
	api_key_file: v.optional(TEXT),
	api_key_command: v.optional(TEXT),
	ca_file: v.optional(TEXT),
	dataset: v.optional(TEXT),
	rate: v.optional(readBy(rate, RATE_FORMS)),
	body: v.optional(v.picklist(["auto", ...bodyForms], alternatives(["auto", ...bodyForms]))),
	flavour: v.optional(TEXT),
	policy: v.optional(POLICY),
	require_https: v.optional(YES_OR_NO),
	ping: v.optional(
		readBy((value) => pingUrl(textOf(value), "ping").href, "an http or https address without a user name"),
	),
	limiter: v.optional(
		readBy((value) => limiterUrl(textOf(value), "limiter").href, "the address of a Redis, as in redis://HOST:6379/0"),
	),
	keep_runs: v.optional(readBy(keepRuns, "a time, as in 12h, 90d or 8w, or forever")),
});

/** The members of a profile, checked one by one. */
export type RawProfile = v.InferOutput<typeof PROFILE>;

/** The file of profiles. The message of a schema says what a value must be. */
export const FILE = objectOf({ profiles: v.optional(mapOf(PROFILE)) });

function rate(value: unknown): RateSetting | undefined {
	if (typeof value === "number" && Number.isFinite(value) && value > 0) return value;
	return parseRateSetting(textOf(value));
}

/** Milliseconds. A bare number is refused: as seconds it would remove nearly all records. */
function keepRuns(value: unknown): number | "forever" | undefined {
	if (value === "forever") return value;
	return /^\d+[hdw]$/.test(textOf(value)) ? millisecondsIn(textOf(value)) : undefined;
}

function textOf(value: unknown): string {
	return typeof value === "string" ? value : "";
}
