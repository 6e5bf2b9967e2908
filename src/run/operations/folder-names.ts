import { RestError } from "../../rest/errors.ts";
import type { StoredFile } from "../../rest/types.ts";
import { flatName } from "../../text/names.ts";
import type { Service } from "../service/service.ts";
import type { Memory } from "./operation.ts";
import { rename } from "./rename.ts";
import { renamed, type UploadAttempt } from "./store-file.ts";

type Stored = NonNullable<Memory["stored"]>;

/** An attempt of an upload whose file has a name. */
type NamedAttempt = UploadAttempt & { readonly item: { readonly file: { readonly name: string } } };

/**
 * Whether the service keeps the folders of a name, as `hr/` of `hr/a.pdf`. RAGFlow in Python keeps them; v1.0 drops them, as
 * Go's `mime/multipart` does (`Part.FileName` is `filepath.Base`). Of other services it is not known. So the first such
 * file of a run goes alone, and the name in its answer shows it.
 *
 * Where they are dropped and the service renames documents, a file is sent under its flat name, and its document then gets
 * the name with folders. RAGFlow v1.0 internal/service/document/document_dataset_update.go: UpdateDatasetDocument takes it.
 */
export class FolderNames {
	readonly #service: Service;
	#isKept: boolean | undefined;
	#first: Promise<unknown> | undefined;

	constructor(service: Service) {
		this.#service = service;
	}

	/**
	 * Stores a file. One that was sent is searched for, whatever became known of the service since.
	 *
	 * @throws RestError before anything is sent, where the service would drop folders of the name for good
	 */
	async store(attempt: NamedAttempt, send: () => Promise<StoredFile>): Promise<StoredFile> {
		const { item, memory } = attempt;
		const { name } = item.file;
		if (!name.includes("/") || memory.isLogged === true) return send();
		// An upload whose answer is lost is searched for under the name that it was sent with.
		if (attempt.api.dialect.flavour.dropsFolders === true) this.#isKept = false;
		while (this.#isKept === undefined) {
			if (this.#first === undefined) return this.#storeFirst(send);
			await this.#first;
		}
		if (this.#isKept) return send();
		if (!renames(attempt)) throw this.#refusal(name);
		memory.sentName = flatName(name);
		await addNamesakes(attempt, memory.sentName);
		return send();
	}

	async #storeFirst(send: () => Promise<StoredFile>): Promise<StoredFile> {
		const sending = send();
		this.#first = sending.then(
			(stored) => (this.#isKept = stored.name.includes("/")),
			() => undefined,
		);
		try {
			return await sending;
		} finally {
			await this.#first;
			this.#first = undefined;
		}
	}

	#refusal(name: string): RestError {
		const base = name.slice(name.lastIndexOf("/") + 1);
		const text = `the service would store ${this.#service.show(name)} as ${this.#service.show(base)}; nothing of this row was sent (--names flat stores it under a name with its folders)`;
		return new RestError(text, { kind: "rejected", code: "NO_FOLDERS" });
	}
}

function renames({ api }: Pick<UploadAttempt, "api">): boolean {
	return api.dialect.flavour.calls.includes("rename");
}

/** A document that has the flat name already must not be taken for the file, if its answer is lost. */
async function addNamesakes({ api, request, item, memory, documents }: NamedAttempt, name: string): Promise<void> {
	const found = await documents.byName(api, request, item.datasetId, name);
	memory.namesakes = [...(memory.namesakes ?? []), ...found.map(({ id }) => id)];
}

/**
 * Gives a document the name of its file, where the service dropped the folders of that.
 *
 * @returns the document with the name that it has then
 * @throws RestError `RENAMED` where the service refuses the name, or does not list it
 */
export async function restoreFolders(attempt: NamedAttempt, stored: Stored): Promise<Stored> {
	const { service, api, request, item } = attempt;
	const { name } = item.file;
	if (!name.includes("/") || stored.name.includes("/") || !renames(attempt)) return stored;
	const error = await rename({ service, api, request }, { datasetId: item.datasetId, id: stored.id, name });
	if (error !== undefined) throw renamed(service, name, stored);
	return { ...stored, name };
}
