import { hash } from "node:crypto";
import { foldedName, idKey } from "../text/names.ts";
import { positionIn } from "./fault.ts";
import { PURPOSES } from "./purposes.ts";
import { readBatches, type OpenManifest } from "./reading.ts";
import { Repeats } from "./rows/repeats.ts";
import type { CheckDependencies, ManifestOptions } from "./types.ts";

/** A row, where it begins or names its document, and its file, if it names one. */
type Entry = { readonly index: number; readonly line: number; readonly column: number; readonly file: string };

/**
 * Finds rows that are about the same document.
 *
 * Hardly any manifest has such rows. So each row leaves a fingerprint while it is checked, and only rows with a fingerprint
 * in common are read again and compared.
 */
export function duplicateSearch(
	manifest: OpenManifest,
	{ signal, foldsNames: asked }: Pick<CheckDependencies, "signal" | "foldsNames">,
) {
	const { source, options, validator } = manifest;
	const { hasFile, required } = PURPOSES[options.purpose].subject;
	// Elsewhere no name is sent.
	const foldsNames = hasFile ? asked : undefined;
	let repeats = new Repeats();

	/** Reads up to the last suspect alone: what ended the first reading may stand after it. */
	const read = async (suspects: ReadonlySet<number>, add: Duplicates["add"]): Promise<void> => {
		let index = 0;
		let left = suspects.size;
		for await (const { reader, rows } of readBatches(source.second(), options)) {
			signal?.throwIfAborted();
			for (const raw of rows) {
				if (suspects.has(index)) {
					const parsed = reader.parse(raw);
					validator.applyOptions(parsed);
					const { key, payload } = validator.identity(parsed);
					left -= 1;
					const { text, line, column } = raw;
					const place = (): Place => positionIn(text, reader.offsetOf(raw, required), line, column);
					add(key, payload, { index, line, column, file: parsed.file }, place);
				}
				if (left === 0) return;
				index++;
			}
		}
	};
	return {
		/**
		 * Notes a valid row.
		 *
		 * @param key its document among those of the dataset, as `SubjectRules` gives it; letter case may differ
		 */
		note(datasetId: string, key: string, index: number): void {
			if (foldsNames === undefined) repeats.add(datasetId, key, index);
			else repeats.add("", foldedName(`${idKey(datasetId)}\0${key}`), index);
		},
		/**
		 * The decisions on rows that are not the only ones about their document.
		 *
		 * @param problems of the manifest so far
		 * @param isFatal whether the manifest has a problem that makes every row uncertain
		 * @returns also whether they compare names as a service does that ignores letter case
		 * @throws CliError exit 8 when the manifest was changed while it was checked
		 */
		async decisions(problems: number, isFatal: boolean) {
			const suspects = repeats.suspects();
			// They are not held while the rows are sent.
			repeats = new Repeats();
			const exact = duplicates(options.onDuplicate);
			const folded = duplicates(options.onDuplicate);
			if (suspects.size === 0) return { ...exact, isFolded: false };
			await read(suspects, (key, payload, row, place) => {
				exact.add(key, payload, row, place);
				if (foldsNames !== undefined) folded.add(foldedName(key), payload, row, place);
			});
			const repeatsOf = ({ skipped, conflicts }: Duplicates): number => skipped.length + conflicts.length;
			// The service is asked how it compares names only if that makes a difference.
			const isAsked = !isFatal && repeatsOf(folded) > repeatsOf(exact);
			const isFolded = isAsked && (await foldsNames?.(problems)) === true;
			return { ...(isFolded ? folded : exact), isFolded };
		},
	};
}

type Place = Pick<Entry, "line" | "column">;
type Duplicates = ReturnType<typeof duplicates>;

/** Decides on rows that are about the same document. Keys and contents are held as hashes. */
function duplicates(policy: ManifestOptions["onDuplicate"]) {
	/** positions of rows that are left out */
	const skipped: number[] = [];
	/** rows that give a document other values than an earlier row, in their order */
	const conflicts: { readonly row: Entry; readonly earlier: Entry }[] = [];
	/** by document, the row that is sent */
	const sent = new Map<string, { readonly content: string; readonly row: Entry }>();
	return {
		skipped,
		conflicts,
		/** @param key identifies the row's document; @param payload its content; @param place where it names the document */
		add(key: string, payload: string, row: Entry, place: () => Place): void {
			const [document, content] = [hash("sha256", key, "binary"), hash("sha256", payload, "binary")];
			const known = sent.get(document);
			if (known !== undefined && (policy === "first" || known.content === content)) skipped.push(row.index);
			else if (known !== undefined && policy === "error") {
				conflicts.push({ row: { ...row, ...place() }, earlier: known.row });
			} else {
				if (known !== undefined) skipped.push(known.row.index);
				sent.set(document, { content, row });
			}
		},
	};
}
