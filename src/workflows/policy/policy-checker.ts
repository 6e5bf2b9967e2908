import { Exit } from "../../errors.ts";
import type { Metadata } from "../../json/values.ts";
import { differenceOf } from "../../plan/change.ts";
import { isTooMany, maxChangesText, type PolicyRule, type Violation, violationsOf } from "../../plan/policy.ts";
import { numberText, documentsText, rowsText } from "../../text/words.ts";
import type { Stop } from "../../run/types.ts";
import { show } from "../../text/show.ts";
import { problemReporter } from "../check/check-manifest.ts";
import type { Given } from "../../flags/flags.ts";
import type { Effect, EffectChange } from "../effect.ts";
import type { Run } from "../open-run.ts";
import { fileOfLines, type RowSource } from "../rows/row-source.ts";

const CODES: Readonly<Record<PolicyRule, string>> = {
	protected: "POLICY_PROTECTED",
	allowed: "POLICY_ALLOWED",
	required: "POLICY_REQUIRED",
	clearing: "POLICY_CLEARING",
	max_changes: "POLICY_MAX_CHANGES",
};

/** The rows that are judged: their counts, and what they are called. */
export type JudgedRows = Pick<RowSource, "name" | "linesOf" | "outOf" | "rows" | "invalid" | "duplicateSkipped">;

export type PolicyChecker = NonNullable<ReturnType<typeof policyChecker>>;

/**
 * Judges the effect of a run by the profile's policy, row by row. It reports violations as problems of a manifest. It
 * holds counts, and nothing of a row.
 */
export function policyChecker({ settings, session, flags, app }: Run<Given<{ json: boolean }>>, source: JudgedRows) {
	if (settings.policy === undefined) return undefined;
	const { value: policy, origin } = settings.policy;
	const { maxChanges } = policy;
	// The share of changed documents is computed from these rows.
	const { rows, invalid, duplicateSkipped, outOf = rows - invalid - duplicateSkipped } = source;
	const problems = problemReporter(flags.json === true, app);
	let changes = 0;
	/** line of the first row above the limit of changes */
	let surplus: number | undefined;

	const report = async (line: number, { key, rule, text }: Violation): Promise<void> => {
		await problems.report({
			file: fileOfLines(source),
			line,
			column: 1,
			field: key,
			code: CODES[rule],
			text: key === null ? text : `${show(key)}: ${text}`,
		});
	};
	/** Judges metadata that is written. Resolves with whether it changes any key. */
	const written = async (
		line: number,
		{ present, metadata, inexact }: Pick<EffectChange, "present" | "metadata" | "inexact">,
		protectedKeys = policy.protectedKeys,
	): Promise<boolean> => {
		const difference = differenceOf(present, metadata, session.api.dialect.flavour.normalise, inexact);
		for (const violation of violationsOf({ ...policy, protectedKeys }, { present, toSend: metadata, difference })) {
			await report(line, violation);
		}
		return difference.add.size + difference.change.size + difference.remove.size > 0;
	};
	/** A document that changes or is removed. */
	const change = (line: number): void => {
		changes += 1;
		if (maxChanges !== undefined && isTooMany(changes, maxChanges, outOf)) surplus ??= line;
	};
	/** A new document. It has no keys yet that could be protected. */
	const creation = async (line: number, metadata: Metadata): Promise<void> => {
		await written(line, { present: new Map(), metadata }, new Set());
		change(line);
	};
	return {
		change,
		creation,
		async effect(line: number, effect: Effect): Promise<void> {
			const { action } = effect;
			if (action === "none") {
				// Nothing changes, but what is sent must still have every required key.
				const { sent } = effect;
				if (sent !== undefined) await written(line, { present: sent, metadata: sent });
			} else if (action === "upload") await creation(line, effect.metadata);
			else if (action === "update" || action === "replace") {
				if ((await written(line, effect)) || action === "replace") change(line);
			} else if (action === "rename" || action === "remove") change(line);
			// A policy is about what documents have: parsing and downloads change none of it.
		},
		/** Call it after the last row: the reason why nothing may be sent, or undefined if the policy forbids nothing. */
		async end(): Promise<Stop | undefined> {
			if (surplus !== undefined && maxChanges !== undefined) {
				const share = maxChanges.unit === "percent" ? ` of ${rowsText(outOf)}` : "";
				const text = `the run would change ${documentsText(changes)}; the policy allows at most ${maxChangesText(maxChanges)}${share}`;
				await report(surplus, { key: null, rule: "max_changes", text });
			}
			problems.end();
			if (problems.count === 0) return undefined;
			const count = `${numberText(problems.count)} ${problems.count === 1 ? "way" : "ways"}`;
			return {
				exit: Exit.limit,
				text: `${source.name} breaks the policy of ${origin} in ${count}; nothing was sent`,
				hint: "Fix the rows, or ask the owner of the policy: it is in config.yaml, and holds for every run with this profile.",
			};
		},
	};
}
