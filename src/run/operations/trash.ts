import { join } from "node:path";
import * as v from "valibot";
import { parseAs } from "../../json/parse-as.ts";
import { membersText } from "../../json/values.ts";
import { RestError } from "../../rest/errors.ts";
import { writeWhole } from "../../write-whole.ts";
import { refuseRounded } from "../documents/before-images.ts";
import { METADATA } from "../journal/records.ts";
import type { Service } from "../service/service.ts";
import { readTextIfThere } from "../storage/quick-files.ts";
import type { Request, Work } from "../types.ts";
import { DownloadFolder } from "./download-folder.ts";
import { readDocument } from "./replace.ts";

/** Keeps the documents that a run removes or replaces in its folder, a file of bytes and one of metadata for each row. */
export class Trash {
	readonly #folder: string;
	readonly #service: Service;
	#opened: Promise<DownloadFolder> | undefined;

	/** @param folder absolute; it is made with the first document */
	constructor(folder: string, service: Service) {
		this.#folder = folder;
		this.#service = service;
	}

	/**
	 * Keeps the document of a row, unless that was done before, or there is none.
	 *
	 * @throws RestError where it can't be kept as it is: then it must stay
	 */
	async keep(item: Work, request: Request): Promise<void> {
		const path = String(item.index);
		if (keptDocument(this.#folder, item.index) !== undefined) return;
		const service = this.#service;
		const api = await service.known(request);
		const id = item.documentId;
		const document = await readDocument({ service, api, request, datasetId: item.datasetId }, id);
		if (document === undefined) return;
		refuseRounded(service, id, document, () => true);
		const folder = await (this.#opened ??= DownloadFolder.open(this.#folder, true));
		await folder.write({ id, path }, true, async (sink) => {
			// A document without bytes is answered like one that is lost.
			const bytes = document.size === 0 ? 0 : await request(() => api.downloadDocument(document, sink));
			if (document.size === undefined || bytes === document.size) return true;
			const text = `the service gave ${bytes} bytes of the document, and lists ${document.size}; it stays`;
			throw new RestError(text, { kind: "ambiguous", code: "SIZE_MISMATCH" });
		});
		const { size = 0, sha256 = "" } = folder.records.of(id) ?? {};
		const kept = { document_id: id, name: document.name, size, sha256, meta_fields: document.metadata ?? new Map() };
		await writeWhole(join(this.#folder, `${path}.json`), `${membersText(kept)}\n`);
	}
}

/** A document that a run has removed or replaced, as it was before; `size` in bytes, `sha256` of its bytes, in hexadecimal. */
const KEPT = v.pipe(
	v.object({ name: v.string(), size: v.number(), sha256: v.string(), meta_fields: METADATA }),
	v.transform(({ meta_fields: metadata, ...kept }) => ({ metadata, ...kept })),
);

/** The same, with the absolute path of its bytes. */
export type KeptDocument = Readonly<v.InferOutput<typeof KEPT>> & { readonly path: string };

/** What a run has kept of a row; undefined where it kept nothing. @param folder the run's folder of kept documents */
export function keptDocument(folder: string, row: number): KeptDocument | undefined {
	const text = readTextIfThere(join(folder, `${row}.json`));
	const kept = text === undefined ? undefined : parseAs(KEPT, text);
	return kept && { path: join(folder, String(row)), ...kept };
}
