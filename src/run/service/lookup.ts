import { RestError } from "../../rest/errors.ts";
import type { Api, Document } from "../../rest/types.ts";
import { allDocuments, PAGE_SIZE, type Request } from "../pages.ts";

/** Every document of a dataset, read once, for a service that can't be asked for one. */
type Index = {
	readonly byId: ReadonlyMap<string, Document>;
	readonly byName: ReadonlyMap<string, readonly Document[]>;
};

/**
 * Finds documents by id or by name for many rows of a run.
 *
 * A service may ignore what a list is asked for. Then each dataset is read once as a whole, not once for each row; an
 * answer may then be as old as the run.
 */
export class Lookup {
	readonly #indexes = new Map<string, Promise<Index>>();

	/** The document, or undefined where the dataset does not list it. */
	async byId(api: Api, request: Request, datasetId: string, id: string): Promise<Document | undefined> {
		const index = this.#indexes.get(datasetId);
		if (index !== undefined) return (await index).byId.get(id);
		const page = await asked(() => request(() => api.listDocuments(datasetId, { page: 1, pageSize: PAGE_SIZE, id })));
		const found = page.find((document) => document.id === id);
		if (found !== undefined || page.length === 0) return found;
		return (await this.#read(api, request, datasetId)).byId.get(id);
	}

	/** Every document of exactly that name. */
	async byName(api: Api, request: Request, datasetId: string, name: string): Promise<readonly Document[]> {
		const index = this.#indexes.get(datasetId);
		if (index !== undefined) return (await index).byName.get(name) ?? [];
		const page = await asked(() => request(() => api.listDocuments(datasetId, { page: 1, pageSize: PAGE_SIZE, name })));
		if (page.every((document) => document.name === name)) return page;
		return (await this.#read(api, request, datasetId)).byName.get(name) ?? [];
	}

	#read(api: Api, request: Request, datasetId: string): Promise<Index> {
		const known = this.#indexes.get(datasetId);
		if (known !== undefined) return known;
		const reading = readIndex(api, request, datasetId);
		this.#indexes.set(datasetId, reading);
		// The row that asked fails or is tried again; the next one reads anew.
		reading.catch(() => this.#indexes.delete(datasetId));
		return reading;
	}
}

async function readIndex(api: Api, request: Request, datasetId: string): Promise<Index> {
	const byId = new Map<string, Document>();
	const byName = new Map<string, Document[]>();
	for await (const document of allDocuments(api, request, datasetId)) {
		byId.set(document.id, document);
		const same = byName.get(document.name);
		if (same === undefined) byName.set(document.name, [document]);
		else same.push(document);
	}
	return { byId, byName };
}

/** There are releases that refuse to list what is not there. */
async function asked(list: () => Promise<{ readonly items: readonly Document[] }>): Promise<readonly Document[]> {
	try {
		return (await list()).items;
	} catch (error) {
		if (error instanceof RestError && error.code === "NOT_FOUND") return [];
		throw error;
	}
}
