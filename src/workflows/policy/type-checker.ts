import { Exit } from "../../errors.ts";
import { sameValue, type Metadata } from "../../json/values.ts";
import type { DocumentSource } from "../../run/documents/document-source.ts";
import { firstDocuments } from "../../run/documents/list.ts";
import { restErrorOf } from "../../run/retry/request.ts";
import { rowErrorOf } from "../../run/operations/prepare-update.ts";
import type { RunFlags } from "../../flags/flags.ts";
import type { Stop } from "../../run/types.ts";
import { numberText } from "../../text/words.ts";
import { problemReporter } from "../check/check-manifest.ts";
import type { Effect } from "../effect.ts";
import { fileOfLines } from "../rows/row-source.ts";
import type { Run } from "../open-run.ts";
import type { JudgedRows } from "./policy-checker.ts";

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
