import type { App, Settings } from "../../app.ts";
import { Exit } from "../../errors.ts";
import type { Metadata } from "../../json/values.ts";
import type { Normalise } from "../../rest/flavours.ts";
import { differenceOf } from "../../plan/change.ts";
import { isTooMany, maxChangesText, type PolicyRule, type Violation, violationsOf } from "../../plan/policy.ts";
import { numberText, documentsText, rowsText } from "../../text/words.ts";
import type { Stop } from "../../run/types.ts";
import { show } from "../../text/show.ts";
import { type ProblemReporter, problemReporter } from "../check/check-manifest.ts";
import type { Effect, EffectChange } from "../effect.ts";
import type { RowSource } from "../rows/row-source.ts";

type PolicySetting = NonNullable<Settings["policy"]>;

const CODES: Readonly<Record<PolicyRule, string>> = {
	protected: "POLICY_PROTECTED",
	allowed: "POLICY_ALLOWED",
	required: "POLICY_REQUIRED",
	clearing: "POLICY_CLEARING",
	max_changes: "POLICY_MAX_CHANGES",
};

/** The rows that are judged: their counts, and what they are called. */
export type JudgedRows = Pick<RowSource, "name" | "linesOf" | "outOf" | "rows" | "invalid" | "duplicateSkipped">;

/**
 * Judges the effect of a run by the profile's policy, row by row. It reports violations as problems of a manifest. It
 * holds counts, and nothing of a row.
 */
export class PolicyChecker {
	readonly #policy: PolicySetting;
	readonly #source: JudgedRows;
	readonly #problems: ProblemReporter;
	#changes = 0;
	#violations = 0;
	/** line of the first row above the limit of changes */
	#surplus: number | undefined;

	constructor(
		policy: PolicySetting,
		source: JudgedRows,
		{ json }: { readonly json?: boolean | undefined },
		app: Pick<App, "io" | "runEnd">,
	) {
		this.#policy = policy;
		this.#source = source;
		this.#problems = problemReporter(json === true, app);
	}

	/** Judges the effect of a row. `normalise` gives what the service stores of sent metadata. */
	async effect(line: number, effect: Effect, normalise: Normalise): Promise<void> {
		const { action } = effect;
		if (action === "none") {
			// Nothing changes, but what is sent must still have every required key.
			const { sent } = effect;
			if (sent !== undefined) await this.#written(line, { present: sent, metadata: sent }, normalise);
		} else if (action === "upload") await this.creation(line, effect.metadata);
		else if (action === "update" || action === "replace") {
			if ((await this.#written(line, effect, normalise)) || action === "replace") this.change(line);
		} else if (action === "rename" || action === "remove") this.change(line);
		// A policy is about what documents have: parsing and downloads change none of it.
	}

	/** A new document. It has no keys yet that could be protected. */
	async creation(line: number, metadata: Metadata): Promise<void> {
		await this.#written(line, { present: new Map(), metadata }, undefined, new Set());
		this.change(line);
	}

	/** Judges metadata that is written. Resolves with whether it changes any key. */
	async #written(
		line: number,
		{ present, metadata, inexact }: Pick<EffectChange, "present" | "metadata" | "inexact">,
		normalise: Normalise | undefined,
		protectedKeys = this.#policy.value.protectedKeys,
	): Promise<boolean> {
		const difference = differenceOf(present, metadata, normalise, inexact);
		const policy = { ...this.#policy.value, protectedKeys };
		for (const violation of violationsOf(policy, { present, toSend: metadata, difference })) {
			await this.#report(line, violation);
		}
		return difference.add.size + difference.change.size + difference.remove.size > 0;
	}

	/** A document that changes or is removed. */
	change(line: number): void {
		this.#changes += 1;
		const { maxChanges } = this.#policy.value;
		if (this.#surplus !== undefined || maxChanges === undefined) return;
		if (isTooMany(this.#changes, maxChanges, this.#rows())) this.#surplus = line;
	}

	/** Call it after the last row: the reason why nothing may be sent, or undefined if the policy forbids nothing. */
	async end(): Promise<Stop | undefined> {
		const { value, origin } = this.#policy;
		if (this.#surplus !== undefined && value.maxChanges !== undefined) {
			const limit = maxChangesText(value.maxChanges);
			const share = value.maxChanges.unit === "percent" ? ` of ${rowsText(this.#rows())}` : "";
			const text = `the run would change ${documentsText(this.#changes)}; the policy allows at most ${limit}${share}`;
			await this.#report(this.#surplus, { key: null, rule: "max_changes", text });
		}
		this.#problems.end();
		if (this.#violations === 0) return undefined;
		const count = `${numberText(this.#violations)} ${this.#violations === 1 ? "way" : "ways"}`;
		return {
			exit: Exit.limit,
			text: `${this.#source.name} breaks the policy of ${origin} in ${count}; nothing was sent`,
			hint: "Fix the rows, or ask the owner of the policy: it is in config.yaml, and holds for every run with this profile.",
		};
	}

	/** Rows that the share of changed documents is computed from. */
	#rows(): number {
		const { rows, invalid, duplicateSkipped, outOf = rows - invalid - duplicateSkipped } = this.#source;
		return outOf;
	}

	async #report(line: number, { key, rule, text }: Violation): Promise<void> {
		this.#violations += 1;
		await this.#problems.report({
			file: this.#source.linesOf ?? this.#source.name,
			line,
			column: 1,
			field: key,
			code: CODES[rule],
			text: key === null ? text : `${show(key)}: ${text}`,
		});
	}
}
