import { metadataText } from "../../json/values.ts";
import type { PlanCounts, PlanHeader, PlannedChange, SyncTarget } from "./planned.ts";
import { createHash } from "node:crypto";

/** Writes the text of a plan, line by line. */
export class PlanText {
	readonly #hash = createHash("sha256");
	#changes = 0;

	header(header: PlanHeader): string {
		return this.#line(headerLine(header));
	}

	change(planned: PlannedChange): string {
		this.#changes += 1;
		return this.#line(changeLine(planned));
	}

	footer({ unchanged, failed }: Omit<PlanCounts, "changes">): string {
		const counts = { changes: this.#changes, unchanged, failed };
		return footerLine(counts, this.#hash.copy().update(countsText(counts)).digest("hex"));
	}

	#line(text: string): string {
		this.#hash.update(text);
		return text;
	}
}

/** The version of the format. It is raised when the meaning of a member changes. */
export const PLAN_VERSION = 1;

/** The first line of a plan. */
export function headerLine({ ragtag, baseUrl, mode, manifest, created, sync }: PlanHeader): string {
	const { name, sha256, rows } = manifest;
	const header = {
		ragtag_plan: PLAN_VERSION,
		ragtag,
		base_url: baseUrl,
		mode,
		manifest: { name, sha256, rows },
		created,
		sync: sync && syncMembers(sync),
	};
	return `${JSON.stringify(header)}\n`;
}

function syncMembers({ root, device, datasetId, state, was, isUntagged }: SyncTarget): object {
	return { root, device, dataset_id: datasetId, state, was, untagged: isUntagged };
}

/** The line of one document. Text, so that keys keep their order and `__proto__` is one of them. */
export function changeLine(planned: PlannedChange): string {
	const { line, datasetId, documentId, name, action } = planned;
	const common = { line, dataset_id: datasetId, document_id: documentId, name, action };
	if ("file" in planned) {
		const { path, size, mtime, ino, sha256, at } = planned.file;
		const { from, fromPath, was } = planned;
		const members = { ...common, from, from_path: fromPath, was, path, size, mtime, ino, sha256, at };
		const text = JSON.stringify(members);
		return `${text.slice(0, -1)},"meta_fields":${metadataText(planned.metadata)}}\n`;
	}
	if (planned.action === "fail") {
		const { path, code, text } = planned;
		return `${JSON.stringify({ ...common, path, code, text })}\n`;
	}
	if (planned.action === "remove") {
		const { was, path } = planned;
		return `${JSON.stringify({ ...common, was, path })}\n`;
	}
	const head = JSON.stringify({ ...common, was: planned.was });
	const { metadata, difference, orWas } = planned;
	const members = [
		...(orWas === undefined ? [] : [`"or_was":${JSON.stringify(orWas)}`]),
		`"meta_fields":${metadataText(metadata)}`,
		`"add":${metadataText(difference.add)}`,
		`"change":${metadataText(new Map(Array.from(difference.change, ([key, { from, to }]) => [key, { from, to }])))}`,
		`"remove":${metadataText(difference.remove)}`,
	];
	return `${head.slice(0, -1)},${members.join(",")}}\n`;
}

/** The part of the last line that the checksum covers. */
export function countsText({ changes, unchanged, failed }: PlanCounts): string {
	return JSON.stringify({ changes, unchanged, failed }).slice(0, -1);
}

/**
 * The last line. A plan without it was cut, and one with another checksum was edited.
 *
 * @param sha256 of all bytes before this line, and of its own counts as `countsText` gives them
 */
export function footerLine(counts: PlanCounts, sha256: string): string {
	return `${countsText(counts)},"sha256":"${sha256}"}\n`;
}
