import type { App, Session } from "../../app.ts";
import { Exit } from "../../errors.ts";
import { sameValue, type Metadata } from "../../json/values.ts";
import type { DocumentSource } from "../../run/documents/document-source.ts";
import { firstDocuments } from "../../run/documents/list.ts";
import { answerOf } from "../../run/documents/pages.ts";
import { rowErrorOf } from "../../run/operations/prepare-update.ts";
import type { Stop } from "../../run/types.ts";
import { numberText } from "../../text/words.ts";
import { type ProblemReporter, problemReporter } from "../check/check-manifest.ts";
import type { Effect } from "../effect.ts";
import { fileOfLines } from "../rows/row-source.ts";
import type { Run } from "../open-run.ts";
import type { JudgedRows } from "./policy-checker.ts";

/** A row that is judged: its line, and the dataset of its document. */
type JudgedRow = { readonly line: number; readonly datasetId: string };

type TypeFlags = {
	readonly allowTypeChange?: boolean | undefined;
	readonly undo?: boolean | undefined;
	readonly json?: boolean | undefined;
};

/**
 * Compares the values that a run would write with the types that their keys have, where a value of another type can cost a
 * document all its metadata. It reports clashes as problems of a manifest.
 */
export class TypeChecker {
	readonly #session: Session;
	readonly #source: JudgedRows;
	readonly #problems: ProblemReporter;
	readonly #isReading: boolean;
	readonly #seen = new Set<string>();
	#isTyped: boolean;
	#clashes = 0;

	constructor({ session, flags, app }: TypedRun, source: JudgedRows) {
		this.#session = session;
		this.#source = source;
		this.#problems = problemReporter(flags.json === true, app);
		// With --no-undo nothing is read, and rows are compared with each other.
		this.#isReading = flags.undo !== false;
		this.#isTyped = true;
	}

	/** Judges the effect of a row, after its document was read from `documents`. */
	async effect(row: JudgedRow, effect: Effect, documents: Pick<DocumentSource, "isListed">): Promise<void> {
		// A list of the whole dataset has shown more than its first page would.
		if (documents.isListed(row.datasetId)) this.#seen.add(row.datasetId);
		if (effect.action === "none" || effect.action === "remove") return;
		const { present, metadata } = effect;
		// A value that the document has already was accepted before.
		const changed = [...metadata].filter(([key, value]) => !sameValue(value, present.get(key)));
		await this.values(row, new Map(changed));
	}

	/** Judges metadata that a row writes. */
	async values({ line, datasetId }: JudgedRow, metadata: Metadata): Promise<void> {
		if (!this.#isTyped || metadata.size === 0) return;
		if (this.#isReading) await this.#learn(datasetId);
		const { normalise } = this.#session.api.dialect.flavour;
		const clashes = this.#session.service.typedKeys.addRow(normalise(metadata), line);
		if (clashes.length === 0 || !(await this.#confirm(datasetId))) return;
		for (const { key, text } of clashes) {
			this.#clashes += 1;
			const file = fileOfLines(this.#source);
			await this.#problems.report({ file, line, column: 1, field: key, code: "TYPE_CHANGE", text });
		}
	}

	/** Call it after the last row: the reason why nothing may be sent, if there is one. */
	end(): Stop | undefined {
		this.#problems.end();
		if (this.#clashes === 0) return undefined;
		const values = this.#clashes === 1 ? "1 value" : `${numberText(this.#clashes)} values`;
		return {
			exit: Exit.limit,
			text: `${this.#source.name} has ${values} of another type than their keys have at the service; nothing was sent`,
			hint: "Correct them. With --allow-type-change they are sent: such a row fails, the service removes all metadata of its document, and ragtag writes it again.",
		};
	}

	/** The documents of a dataset that its list shows first: those of rows may have no metadata yet. */
	async #learn(datasetId: string): Promise<void> {
		if (this.#seen.has(datasetId)) return;
		this.#seen.add(datasetId);
		const { service, request } = this.#session;
		try {
			await firstDocuments(await service.known(request), request, datasetId);
		} catch (error) {
			// Its rows report the reason.
			if (rowErrorOf(error) === undefined) throw error;
		}
	}

	/**
	 * Whether keys have types. Of the releases with PUT only v0.24 has them, and it alone does not read the plain form of an
	 * update (`_coerce_request_data` in api/utils/api_utils.py). It is asked about a document that does not exist.
	 */
	async #confirm(datasetId: string): Promise<boolean> {
		const { api, request } = this.#session;
		const { flavour } = api.dialect;
		if (flavour.update.verb !== "PUT" || this.#clashes > 0) return true;
		const plain = api.as({ flavour, form: "plain" });
		this.#isTyped = (await request(() => plain.probeRight(datasetId))) === "unknown";
		return this.#isTyped;
	}
}

type TypedRun = {
	readonly session: Session;
	readonly flags: TypeFlags;
	readonly app: Pick<App, "io" | "runEnd">;
};

/** The checker of a run; undefined where a value of another type costs nothing, or is meant. */
export async function typeChecker(
	{ session, flags, app }: Pick<Run<TypeFlags>, "session" | "flags" | "app">,
	source: JudgedRows,
): Promise<TypeChecker | undefined> {
	if (flags.allowTypeChange === true) return undefined;
	// Where the service does not answer now, the run says so in its own way.
	const api = await session.service.known(session.tryRequest).catch((error: unknown) => {
		if (answerOf(error) === undefined) throw error;
		return undefined;
	});
	return api?.dialect.flavour.hasSearchEngine === true ? new TypeChecker({ session, flags, app }, source) : undefined;
}
