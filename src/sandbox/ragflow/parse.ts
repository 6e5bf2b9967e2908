import type { Release } from "../flavours/release.ts";
import { isObject } from "../json-text.ts";
import { pythonRepr } from "../python.ts";
import { collationKey } from "../store/collation.ts";
import type { Store } from "../store/index.ts";
import { Code, exception, Failure, success } from "./failure.ts";
import { readJson, type Route } from "./request.ts";

/**
 * POST /datasets/<dataset_id>/chunks: `parse` in api/apps/sdk/doc.py up to v0.25.3, in api/apps/restful_apis/chunk_api.py
 * later, and `Parse` in internal/handler/chunk.go and internal/service/chunk/chunk.go.
 *
 * The Python releases take one document after another, and stop at the first that is at work: those before it are started.
 * v1.0 checks all first.
 */
export const parseDocuments: Route = async (call, { store, settings }) => {
	const { datasetId, sentDatasetId, release, request } = call;
	const inGo = release.reads === "as-go";
	store.commits.flush();
	if (!inGo) checkDataset(store, datasetId, sentDatasetId, release);
	const { value } = await readJson(request, release).catch((error: unknown) => {
		throw inGo && error instanceof Failure ? unbound(error) : error;
	});
	if (inGo) checkDataset(store, datasetId, sentDatasetId, release);
	const ids = idsIn(value);
	// Both go through a set, whose order is none that a client could know.
	const unique = [...new Set(ids)].sort();
	const repeated = unique.filter((id) => ids.indexOf(id) !== ids.lastIndexOf(id));
	const outcome = await store.commits.write(() => {
		const missing = unique.filter((id) => store.documents.datasetOf(collationKey(id)) !== datasetId);
		const isBusy = (id: string): boolean => store.parsingStates.of(collationKey(id)).run === "RUNNING";
		const known = unique.filter((id) => !missing.includes(id));
		if (inGo && missing.length > 0) return notFound(missing, inGo);
		if (inGo && known.some(isBusy)) return busy(inGo);
		for (const id of known) {
			if (isBusy(id)) return busy(inGo);
			store.parsingStates.start(collationKey(id), settings.parsingLists);
		}
		return missing.length > 0 ? notFound(missing, inGo) : undefined;
	});
	if (outcome !== undefined) throw outcome;
	const message = inGo ? "success" : undefined;
	if (repeated.length === 0) return inGo ? success("null", message) : success();
	const errors = repeated.map((id) => `Duplicate document ids: ${id}`);
	return success(JSON.stringify({ success_count: unique.length, errors }), message);
};

function checkDataset(store: Store, datasetId: string, sent: string, { reads }: Release): void {
	if (store.datasets.find(datasetId) !== undefined) return;
	if (reads === "as-go") throw new Failure(Code.operating, `you don't own the dataset ${sent}`, { data: "null" });
	throw new Failure(Code.data, `You don't own the dataset ${sent}.`);
}

/** `ShouldBindJSON` refuses a body with a status of its own. */
function unbound({ message }: Failure): Failure {
	return new Failure(Code.badRequest, `Invalid request body: ${message}`, { status: 400, data: "null" });
}

function idsIn(value: unknown): readonly string[] {
	if (!isObject(value)) throw exception("AttributeError(\"'NoneType' object has no attribute 'get'\")");
	const ids = value["document_ids"];
	const texts = Array.isArray(ids) ? ids.filter((id: unknown) => typeof id === "string") : [];
	if (texts.length === 0) throw new Failure(Code.data, "`document_ids` is required");
	return texts;
}

function notFound(ids: readonly string[], inGo: boolean): Failure {
	if (inGo) return new Failure(Code.data, `documents not found: [${ids.join(" ")}]`, { data: "null" });
	return new Failure(Code.data, `Documents not found: [${ids.map(pythonRepr).join(", ")}]`);
}

function busy(inGo: boolean): Failure {
	const words = "an't parse document that is currently being processed";
	return inGo ? new Failure(Code.data, `c${words}`, { data: "null" }) : new Failure(Code.data, `C${words}`);
}
