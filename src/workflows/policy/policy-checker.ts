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
		switch (effect.action) {
			case "download":
				return;
			case "none":
				// Nothing changes, but what is sent must still have every required key.
				if (effect.sent !== undefined)
					await this.#update(line, { present: effect.sent, metadata: effect.sent }, normalise);
				return;
			case "update":
			case "replace":
				await this.#update(line, effect, normalise, effect.action === "replace");
				return;
			case "upload":
				await this.creation(line, effect.metadata);
				return;
			case "rename":
			case "remove":
				this.change(line);
				return;
			// A policy is about what documents have, and parsing changes none of it.
			case "parse":
		}
	}

	async #update(
		line: number,
		{ present, metadata, inexact }: Pick<EffectChange, "present" | "metadata" | "inexact">,
		normalise: Normalise,
		isNew = false,
	): Promise<void> {
		const difference = differenceOf(present, metadata, normalise, inexact);
		for (const violation of violationsOf(this.#policy.value, { present, toSend: metadata, difference })) {
			await this.#report(line, violation);
		}
		if (isNew || difference.add.size + difference.change.size + difference.remove.size > 0) this.change(line);
	}

	/** A new document. It has no keys yet that could be protected. */
	async creation(line: number, metadata: Metadata): Promise<void> {
		const present: Metadata = new Map();
		const policy = { ...this.#policy.value, protectedKeys: new Set<string>() };
		const difference = differenceOf(present, metadata);
		for (const violation of violationsOf(policy, { present, toSend: metadata, difference })) {
			await this.#report(line, violation);
		}
		this.change(line);
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
