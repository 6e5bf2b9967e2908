import { prepareUpdate, type UpdatePlan } from "../run/operations/prepare-update.ts";
import type { RunFlags } from "../flags/flags.ts";
import type { Row } from "../manifest/types.ts";
import { BeforeImages } from "../run/documents/before-images.ts";
import { planMetadata, replaceMetadata } from "../run/operations/update.ts";
import { refuseValues } from "../run/service/arrival.ts";
import type { PreviewRow } from "./effect.ts";
import type { Run } from "./open-run.ts";
import type { RowOperation } from "./run/run-rows.ts";

/** How the metadata of a row is changed before it is sent. */
type Update = Omit<UpdatePlan, "documents"> & {
	/** whether documents that already have the metadata are left alone */
	readonly onlyChanged: boolean;
};

/** Writes the metadata of each row onto its document. */
export function updateDocuments({ session, settings, flags }: Run<RunFlags>, update: Update): RowOperation {
	const { service } = session;
	// A row whose document can't be seen was not judged by the policy either: it fails, and is not sent.
	const merges = update.change.mode === "merge";
	const reads = merges || update.onlyChanged || settings.policy !== undefined;
	return (log, documents) => {
		const coming = (rows: readonly Row[]): void => documents.expect(rows);
		// A replacement goes on without knowing what its document has: it is written, as it may differ.
		const mustKnow = merges || settings.policy !== undefined;
		const source = mustKnow ? documents : documents.marksDoubts();
		if (reads) return Object.assign(planMetadata<Row>(service, { ...update, documents: source }, log), { coming });
		if (flags.undo === false) return replaceMetadata(service, { documents: source }, log);
		const images = new BeforeImages(source, service);
		return Object.assign(replaceMetadata<Row>(service, { images }, log), { coming });
	};
}

/** The effect of `updateDocuments` on the document of a row. */
export function previewUpdate(update: Update): PreviewRow {
	return async (row, { service, request }, documents) => {
		const { document, present, metadata, isSame } = await prepareUpdate(service, request, row, {
			...update,
			documents,
		});
		const { documentId } = row;
		if (isSame) return { action: "none", documentId, ...(update.onlyChanged ? {} : { sent: metadata }) };
		refuseValues(service, metadata);
		return { action: "update", documentId, name: document.name, present, inexact: document.inexact, metadata };
	};
}
