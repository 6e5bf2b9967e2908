import type { JudgedRow } from "../run/verify/verify.ts";
import { namedDocument, show } from "../text/show.ts";
import { numberText, rowsText } from "../text/words.ts";
import type { VerifyCounts } from "../run/types.ts";

/** `Verified 10,000 rows: 9,900 equal, 0 normalised by the service, 100 lost, 0 changed since`. */
export function verifyText(counts: VerifyCounts): string {
	const { mode, rows, checked, equal, normalised, lost, changed_since: changed, unknown, pending } = counts;
	const what = mode === "sample" && checked < rows ? `${numberText(checked)} of ${rowsText(rows)}` : rowsText(checked);
	const kept = `${numberText(equal)} equal, ${numberText(normalised)} normalised by the service`;
	const unchecked = unknown === 0 ? "" : `, ${numberText(unknown)} could not be checked`;
	const rest = pending === 0 ? "" : `, ${numberText(pending)} not checked`;
	return `Verified ${what}: ${kept}, ${numberText(lost)} lost, ${numberText(changed)} changed since${unchecked}${rest}`;
}

/** The `--json` line of a row that is not as it was sent. */
export function verifyLine(judged: JudgedRow): string {
	const { line, datasetId, documentId, name, result, keys, isListed, laterRun, error } = judged;
	return JSON.stringify({
		type: "verify",
		line,
		dataset_id: datasetId,
		document_id: documentId,
		name: name ?? null,
		result,
		keys,
		listed: isListed ?? null,
		later_run: laterRun ?? null,
		error_code: error?.code ?? null,
		error: error?.text ?? null,
	});
}

/** Keys that are named of one document: a document may have hundreds. */
const NAMED = 10;

/** `document 0a1b: lost: author, pages`. */
export function verdictText({ documentId, name, write, result, keys, isListed, laterRun, error }: JudgedRow): string {
	const document = `document ${namedDocument(name, documentId)}`;
	const named = keys.slice(0, NAMED).map((key) => show(key));
	const more = keys.length > NAMED ? ` and ${numberText(keys.length - NAMED)} more` : "";
	const list = `${named.join(", ")}${more}`;
	if (laterRun !== undefined) return `${document}: changed since: run ${laterRun} wrote it again`;
	if (result === "unknown") return `${document}: could not be checked: ${error?.code}: ${error?.text}`;
	if (result === "changed_since") return `${document}: changed since: ${list}`;
	if (write === "remove") return `${document}: lost: it was removed, but is in the dataset`;
	if (isListed === false) return `${document}: lost: it is not in the dataset any more`;
	return `${document}: lost: ${list}`;
}
