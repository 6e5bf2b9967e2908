import { isJsonArray, type JsonValue, type Metadata, sameValue } from "../json/values.ts";
import type { MaxChanges, Policy } from "../policy.ts";
import { show } from "../text/show.ts";
import type { Difference } from "./change.ts";

export type PolicyRule = "protected" | "allowed" | "required" | "clearing" | "max_changes";

/** One thing of an update that a policy forbids. */
export type Violation = {
	/** null where it is not about one key */
	readonly key: string | null;
	readonly rule: PolicyRule;
	/** what is wrong, without the key */
	readonly text: string;
};

/** The update of one document. */
type PolicyCase = {
	/** what the document has */
	readonly present: Metadata;
	/** the whole metadata that it is sent */
	readonly toSend: Metadata;
	/** between the two, after the service's normalisation */
	readonly difference: Difference;
};

/** Most allowed values that a message lists. */
const MAX_LISTED = 8;

/**
 * The faults of one document's update by a policy. The number of changed documents is checked elsewhere.
 *
 * Only added and changed values are checked against the allowed ones: this run does not set the others. Required keys
 * must be in what the document has afterwards.
 */
export function violationsOf(policy: Policy, { present, toSend, difference }: PolicyCase): readonly Violation[] {
	const { add, change, remove } = difference;
	const violations: Violation[] = [];
	for (const key of policy.protectedKeys) {
		const action = add.has(key) ? "added" : change.has(key) ? "changed" : remove.has(key) ? "removed" : undefined;
		if (action !== undefined) violations.push({ key, rule: "protected", text: `is protected, and would be ${action}` });
	}
	for (const [key, allowed] of policy.allowed) {
		const value = add.has(key) ? add.get(key) : change.get(key)?.to;
		if (value === undefined) continue;
		const items = isJsonArray(value) ? value : [value];
		const first = items.find((item) => !allowed.some((each) => sameValue(each, item)));
		if (first === undefined) continue;
		violations.push({
			key,
			rule: "allowed",
			text: `${valueText(first)} is not allowed; allowed: ${listText(allowed)}`,
		});
	}
	for (const key of policy.required) {
		// Null means that there is no value, as in the checks of a manifest.
		if ((toSend.get(key) ?? null) !== null) continue;
		violations.push({ key, rule: "required", text: "is required, and the document would not have it" });
	}
	if (policy.noClearing && present.size > 0 && toSend.size === 0) {
		violations.push({ key: null, rule: "clearing", text: "the document would be left without any metadata" });
	}
	return violations;
}

/** Whether a run of `rows` rows may not change that many documents. */
export function isTooMany(changes: number, { unit, value }: MaxChanges, rows: number): boolean {
	return unit === "percent" ? changes * 100 > value * rows : changes > value;
}

/** Whether a policy can only be checked against what documents have. */
export function needsPresent({ protectedKeys, noClearing, maxChanges }: Policy): boolean {
	return protectedKeys.size > 0 || noClearing || maxChanges !== undefined;
}

/** A policy in a few words: `protected: source_id; max_changes: 5%`. */
export function policyText({ protectedKeys, allowed, required, maxChanges, noClearing }: Policy): string {
	const named = (name: string, keys: Iterable<string>): string[] => {
		const text = Array.from(keys, (key) => show(key)).join(", ");
		return text === "" ? [] : [`${name}: ${text}`];
	};
	const parts = [
		...named("protected", protectedKeys),
		...named("allowed values", allowed.keys()),
		...named("required", required),
		...(maxChanges === undefined ? [] : [`max_changes: ${maxChangesText(maxChanges)}`]),
		...(noClearing ? ["no_clearing"] : []),
	];
	return parts.length === 0 ? "forbids nothing" : parts.join("; ");
}

export function maxChangesText({ unit, value }: MaxChanges): string {
	return unit === "percent" ? `${value}%` : String(value);
}

function listText(values: readonly JsonValue[]): string {
	const named = values.slice(0, MAX_LISTED).map(valueText).join(", ");
	return values.length > MAX_LISTED ? `${named} and ${values.length - MAX_LISTED} more` : named;
}

function valueText(value: JsonValue): string {
	return show(JSON.stringify(value), 80);
}
