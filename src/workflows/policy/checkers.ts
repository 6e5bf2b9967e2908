import { Exit } from "../../errors.ts";
import type { Given, RunFlags } from "../../flags/flags.ts";
import { type Metadata, sameValue } from "../../json/values.ts";
import { differenceOf } from "../../plan/change.ts";
import { isTooMany, maxChangesText, type PolicyRule, type Violation, violationsOf } from "../../plan/policy.ts";
import type { DocumentSource } from "../../run/documents/document-source.ts";
import { firstDocuments } from "../../run/documents/list.ts";
import { rowErrorOf } from "../../run/operations/prepare-update.ts";
import { restErrorOf } from "../../run/retry/request.ts";
import type { Stop } from "../../run/types.ts";
import { show } from "../../text/show.ts";
import { documentsText, numberText, rowsText } from "../../text/words.ts";
import { problemReporter } from "../check/check-manifest.ts";
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
type JudgedRows = Pick<RowSource, "name" | "linesOf" | "outOf" | "rows" | "invalid" | "duplicateSkipped">;

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

/** A row that is judged: its line, and the dataset of its document. */
type JudgedRow = { readonly line: number; readonly datasetId: string };

export type TypeChecker = NonNullable<Awaited<ReturnType<typeof typeChecker>>>;

/**
 * Compares the values that a run would write with the types that their keys have, where a value of another type can cost a
 * document all its metadata. It reports clashes as problems of a manifest.
 *
 * @returns undefined where a value of another type costs nothing, or is meant
 */
export async function typeChecker(
	{ session, flags, app }: Pick<Run<Pick<RunFlags, "allowTypeChange" | "undo" | "json">>, "session" | "flags" | "app">,
	source: JudgedRows,
) {
	if (flags.allowTypeChange === true) return undefined;
	const { service, request } = session;
	// Where the service does not answer now, the run says so in its own way.
	const known = await service.known(session.tryRequest).catch((error: unknown) => {
		if (restErrorOf(error) === undefined) throw error;
		return undefined;
	});
	if (known?.dialect.flavour.hasSearchEngine !== true) return undefined;
	const problems = problemReporter(flags.json === true, app);
	const seen = new Set<string>();
	let isTyped = true;

	/** The documents of a dataset that its list shows first: those of rows may have no metadata yet. */
	const learn = async (datasetId: string): Promise<void> => {
		if (seen.has(datasetId)) return;
		seen.add(datasetId);
		try {
			await firstDocuments({ api: await service.known(request), request, datasetId });
		} catch (error) {
			// Its rows report the reason.
			if (rowErrorOf(error) === undefined) throw error;
		}
	};
	/**
	 * Whether keys have types. Of the releases with PUT only v0.24 has them, and it alone does not read the plain form of an
	 * update (`_coerce_request_data` in api/utils/api_utils.py). It is asked about a document that does not exist.
	 */
	const confirm = async (datasetId: string): Promise<boolean> => {
		const { flavour } = session.api.dialect;
		if (flavour.update.verb !== "PUT" || problems.count > 0) return true;
		const plain = session.api.as({ flavour, form: "plain" });
		isTyped = (await request(() => plain.probeRight(datasetId))) === "unknown";
		return isTyped;
	};
	/** Judges metadata that a row writes. */
	const values = async ({ line, datasetId }: JudgedRow, metadata: Metadata): Promise<void> => {
		if (!isTyped || metadata.size === 0) return;
		// With --no-undo nothing is read, and rows are compared with each other.
		if (flags.undo !== false) await learn(datasetId);
		const { normalise } = session.api.dialect.flavour;
		const clashes = service.typedKeys.addRow(normalise(metadata), line);
		if (clashes.length === 0 || !(await confirm(datasetId))) return;
		const file = fileOfLines(source);
		for (const { key, text } of clashes) {
			await problems.report({ file, line, column: 1, field: key, code: "TYPE_CHANGE", text });
		}
	};
	return {
		values,
		/** Judges the effect of a row, after its document was read from `documents`. */
		async effect(row: JudgedRow, effect: Effect, documents: Pick<DocumentSource, "isListed">): Promise<void> {
			// A list of the whole dataset has shown more than its first page would.
			if (documents.isListed(row.datasetId)) seen.add(row.datasetId);
			if (effect.action === "none" || effect.action === "remove") return;
			const { present, metadata } = effect;
			// A value that the document has already was accepted before.
			const changed = [...metadata].filter(([key, value]) => !sameValue(value, present.get(key)));
			await values(row, new Map(changed));
		},
		/** Call it after the last row: the reason why nothing may be sent, if there is one. */
		end(): Stop | undefined {
			problems.end();
			if (problems.count === 0) return undefined;
			const count = problems.count === 1 ? "1 value" : `${numberText(problems.count)} values`;
			return {
				exit: Exit.limit,
				text: `${source.name} has ${count} of another type than their keys have at the service; nothing was sent`,
				hint: "Correct them. With --allow-type-change they are sent: such a row fails, the service removes all metadata of its document, and ragtag writes it again.",
			};
		},
	};
}
