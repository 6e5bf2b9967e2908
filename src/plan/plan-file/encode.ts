import { createHash, type Hash } from "node:crypto";
import { membersText } from "../../json/values.ts";
import { PLAN_VERSION, type PlanCounts, type PlanHeader, type PlannedChange } from "./lines.ts";

/** Writes the text of a plan, line by line. */
export class PlanText {
	readonly #hash = createHash("sha256");
	#changes = 0;

	header({ ragtag, baseUrl, mode, manifest, created, sync }: PlanHeader): string {
		const { name, sha256, rows } = manifest;
		const { root, device, datasetId, state, was, isUntagged } = sync ?? {};
		const members = {
			ragtag_plan: PLAN_VERSION,
			ragtag,
			base_url: baseUrl,
			mode,
			manifest: { name, sha256, rows },
			created,
		};
		const target = { root, device, dataset_id: datasetId, state, was, untagged: isUntagged };
		return this.#line(`${JSON.stringify({ ...members, sync: sync && target })}\n`);
	}

	change(planned: PlannedChange): string {
		this.#changes += 1;
		return this.#line(changeLine(planned));
	}

	footer({ unchanged, failed }: Omit<PlanCounts, "changes">): string {
		return footerLine({ changes: this.#changes, unchanged, failed }, this.#hash.copy());
	}

	#line(text: string): string {
		this.#hash.update(text);
		return text;
	}
}

/** The line of one document. */
export function changeLine(planned: PlannedChange): string {
	const { line, datasetId, documentId, name, action } = planned;
	const common = { line, dataset_id: datasetId, document_id: documentId, name, action };
	if ("file" in planned) {
		const { from, fromPath, was, file, metadata } = planned;
		return `${membersText({ ...common, from, from_path: fromPath, was, ...file, meta_fields: metadata })}\n`;
	}
	if (planned.action === "fail") {
		const { path, code, text } = planned;
		return `${membersText({ ...common, path, code, text })}\n`;
	}
	const { was } = planned;
	if (planned.action === "remove") return `${membersText({ ...common, was, path: planned.path })}\n`;
	const { orWas, metadata, difference } = planned;
	return `${membersText({ ...common, was, or_was: orWas, meta_fields: metadata, ...difference })}\n`;
}

/**
 * The last line. A plan without it was cut, and one with another checksum was edited.
 *
 * @param hash of all bytes before this line: its own counts are hashed, too
 */
export function footerLine({ changes, unchanged, failed }: PlanCounts, hash: Hash): string {
	const counts = JSON.stringify({ changes, unchanged, failed }).slice(0, -1);
	return `${counts},"sha256":"${hash.update(counts).digest("hex")}"}\n`;
}
