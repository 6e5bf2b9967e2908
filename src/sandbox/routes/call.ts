import type { IncomingMessage } from "node:http";
import { randomBytes } from "node:crypto";
import { Refusal } from "../envelope.ts";
import type { BusboyClass } from "../optional.ts";
import type { Settings } from "../settings.ts";
import type { Store } from "../store/index.ts";
import type { StoredDataset } from "../store/datasets.ts";

/** One request on its way to a route, whose key, host, path and method are already found good. */
export type Call = {
	readonly request: IncomingMessage;
	readonly query: URLSearchParams;
	/** the ids in the path, empty where the path has none */
	readonly datasetId: string;
	readonly documentId: string;
};

export type Service = {
	readonly store: Store;
	readonly settings: Settings;
	readonly busboy: BusboyClass;
	/** told of each update that was committed */
	readonly updated: () => void;
	/** whether the database can't be reached: a fault's doing, which each flavour answers in its own way */
	readonly databaseAway: boolean;
};

/** Answers a call with the JSON text of the envelope's `data`, or throws a `Refusal`. */
export type Route = (call: Call, service: Service) => Promise<string>;

/** Like the ids of RAGFlow, which are UUIDs of version 1: releases refuse what is none. */
export function newId(): string {
	const id = randomBytes(16).toString("hex");
	return `${id.slice(0, 12)}1${id.slice(13, 16)}8${id.slice(17)}`;
}

export function findDataset(store: Store, id: string): StoredDataset {
	const dataset = store.datasets.find(id);
	if (dataset === undefined) throw new Refusal(404, `there is no dataset ${id}`);
	return dataset;
}

/** Which of the two is missing, for a document that was not found. */
export function notFound(store: Store, { datasetId, documentId }: Call): Refusal {
	findDataset(store, datasetId);
	return new Refusal(404, `dataset ${datasetId} has no document ${documentId}`);
}
