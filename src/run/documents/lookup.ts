import type { Api, Document } from "../../rest/types.ts";
import { askFor, askForName } from "./ask-for.ts";
import { otherSpellings, refuseOtherCase } from "./other-case.ts";
import type { Request } from "../types.ts";
import { wholeList } from "./pages.ts";

/** Every document of a dataset, read once, for a service that can't be asked for one. */
type Index = {
	readonly byId: ReadonlyMap<string, Document>;
	/** by what the service compares of a name */
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

	/** Whether the service can't be asked for one document of that dataset, so that it was read as a whole. */
	isIndexed(datasetId: string): boolean {
		return this.#indexes.has(datasetId);
	}

	/** The document, or undefined where the dataset does not list it. */
	async byId(api: Api, request: Request, datasetId: string, id: string): Promise<Document | undefined> {
		const index = this.#indexes.get(datasetId);
		if (index !== undefined) return foundIn(await index, datasetId, id);
		const page = await askFor(api, request, datasetId, { id });
		if (page?.items.every((document) => document.id === id) === true) return page.items[0];
		return foundIn(await this.#read(api, request, datasetId), datasetId, id);
	}

	/** Every document that has that name by the service's own comparison. */
	async byName(api: Api, request: Request, datasetId: string, name: string): Promise<readonly Document[]> {
		const index = this.#indexes.get(datasetId);
		const found = index === undefined ? await askForName(api, request, datasetId, name) : undefined;
		if (found !== undefined) return found;
		const { byName } = await this.#read(api, request, datasetId);
		return byName.get(api.dialect.flavour.nameKey(name)) ?? [];
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

function foundIn({ byId }: Index, datasetId: string, id: string): Document | undefined {
	const found = byId.get(id);
	if (found !== undefined) return found;
	refuseOtherCase(
		datasetId,
		id,
		otherSpellings(id).flatMap((spelling) => byId.get(spelling) ?? []),
	);
	return undefined;
}

async function readIndex(api: Api, request: Request, datasetId: string): Promise<Index> {
	const byId = new Map<string, Document>();
	const byName = new Map<string, Document[]>();
	for await (const document of wholeList(api, request, datasetId)) {
		byId.set(document.id, document);
		const key = api.dialect.flavour.nameKey(document.name);
		const same = byName.get(key);
		if (same === undefined) byName.set(key, [document]);
		else same.push(document);
	}
	return { byId, byName };
}
