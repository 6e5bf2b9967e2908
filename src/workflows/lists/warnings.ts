import type { App } from "../../app.ts";
import { hasHalfPair } from "../../json/values.ts";
import { isNotJson } from "../../json/parse-json.ts";
import { documentsText, numberText } from "../../text/words.ts";
import type { Document } from "../../rest/types.ts";
import { show } from "../../text/show.ts";
import { CliError, Exit } from "../../errors.ts";
import type { ShortList } from "../../run/documents/list.ts";

/** The end of a command whose list stayed short. `output` names its output: all documents that were listed. */
export function shortListError(dataset: string, { shown, total, passes }: ShortList, output: string): CliError {
	const tried = `${passes} ${passes === 1 ? "pass" : "passes"}`;
	return new CliError(
		`the service says that dataset ${show(dataset)} has ${documentsText(total)}, and its pages showed ${numberText(shown)}, ` +
			`in ${tried}; ${output} is not complete`,
		{
			exit: Exit.failedRows,
			hint: "Run the same command again. If it ends the same way, the service's count or its pages are wrong: inform its operator.",
		},
	);
}

/** Ends a command with that error, after the last document of a list that stays short. */
export function refuseShort(dataset: string, output: string): (list: ShortList) => never {
	return (list) => {
		throw shortListError(dataset, list, output);
	};
}

/**
 * What happens to odd values, a clause each: rounded numbers, values that are no JSON, and text with half a surrogate
 * pair, which only JSON's escapes can hold.
 */
type OddValueTexts = { readonly rounded: string; readonly notJson: string; readonly halfPair: string };

/** What happens to them in a manifest. */
export const IN_MANIFESTS: OddValueTexts = {
	rounded:
		"they are written as the service gives them, and docs tag refuses those cells, with line and column, until they are changed",
	notJson:
		"their cells are left empty, so docs tag removes these keys (with --mode merge their rows fail instead); a list or object with such a value in it is written, and docs tag refuses its cell",
	halfPair:
		"it is written as a \\u escape in a :json cell, which docs tag sends as it came; most programs can't keep it",
};

/** What happens to them in a table or as tab-separated values. */
export const IN_TABLES: OddValueTexts = {
	rounded: "they are shown as the service gives them",
	notJson: "they are shown as the service gives them",
	halfPair: "it can't be printed as it is; --format jsonl writes it as a \\u escape",
};

/** What happens to them in JSON, which must stay JSON. */
export const IN_JSON: OddValueTexts = {
	...IN_TABLES,
	notJson: 'they stand beside "meta_fields", as texts in "not_json"',
	halfPair: "it is written as a \\u escape",
};

/** Documents of a warning that are named. */
const NAMED = 5;

/** Documents with a kind of odd value: how many, and the first of them. */
class Odd {
	readonly #names: string[] = [];
	#count = 0;
	#last: string | undefined;

	add({ id }: Document, key: string): void {
		if (id === this.#last) return;
		this.#last = id;
		this.#count += 1;
		if (this.#names.length < NAMED) this.#names.push(`document ${show(id)}, key ${show(key)}`);
	}

	/** A warning that they have it, and what becomes of it; none where no document has. */
	warnings(what: string, fate: string): string[] {
		if (this.#count === 0) return [];
		const documents = `${documentsText(this.#count)} ${this.#count === 1 ? "has" : "have"}`;
		const more = this.#count > NAMED ? `; and ${documentsText(this.#count - NAMED)} more` : "";
		return [`warning: ${documents} ${what} (${this.#names.join("; ")}${more}): ${fate}`];
	}
}

/**
 * Passes documents on, and warns at the end of values that few programs keep exactly.
 *
 * They are printed as the service gave them, and the next program may round them silently.
 *
 * @param keys that are printed; undefined for all
 */
export async function* warningOfInexact(
	documents: AsyncIterable<Document>,
	keys: readonly string[] | undefined,
	texts: OddValueTexts,
	{ io }: App,
): AsyncGenerator<Document> {
	const [rounded, halfPair, notJson] = [new Odd(), new Odd(), new Odd()];
	const isPrinted = (key: string): boolean => keys === undefined || keys.includes(key);
	for await (const document of documents) {
		for (const [key, text] of document.inexact ?? []) {
			if (isPrinted(key)) (isNotJson(text) ? notJson : rounded).add(document, key);
		}
		for (const [key, value] of document.metadata ?? []) {
			if (isPrinted(key) && (hasHalfPair(key) || hasHalfPair(value))) halfPair.add(document, key);
		}
		yield document;
	}
	const warnings = [
		...rounded.warnings("numbers that most programs can't keep exactly", texts.rounded),
		...halfPair.warnings("text with half a surrogate pair", texts.halfPair),
		...notJson.warnings("NaN or an infinity, which is no JSON", texts.notJson),
	];
	for (const text of warnings) io.note(text);
}
