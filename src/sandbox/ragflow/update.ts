import { isObject } from "../object.ts";
import { mergedText } from "../members.ts";
import type { Store } from "../store/index.ts";
import { readJson } from "./body.ts";
import type { Call, Route } from "./call.ts";
import { documentText } from "./document.ts";
import { Code, exception, Failure, success, worded } from "./failure.ts";
import { checkKinds, checkMethod, checkName, checkUnchangeable, type Members } from "./changes.ts";
import { metadataOf } from "./metadata.ts";

/**
 * PUT or PATCH /datasets/<dataset_id>/documents/<document_id>
 *
 * Up to v0.24 each member is checked when it is its turn, and what came before is done (`update_doc` in
 * api/apps/sdk/doc.py); later all are checked first (`update_document` in api/apps/restful_apis/document_api.py).
 */
export const updateDocument: Route = async (call, { store, settings, updated }) => {
	const { text, value } = await readJson(call.request, call.release);
	const outcome = await store.commits.write((): Outcome => {
		const name = ownedName(store, call);
		if (!isObject(value)) throw exception("TypeError(\"argument of type 'NoneType' is not iterable\")");
		const work = new Update(store, { call, name, members: value, merges: settings.update === "merge" });
		return call.release.values === "flat" ? work.allChecked(text) : work.oneByOne(text);
	});
	if (outcome.changed) updated();
	if (outcome.failure !== undefined) throw outcome.failure;
	return answerOf(store, call);
};

/** What was done, and the failure that was met after it: what is thrown must not have written. */
type Outcome = { readonly changed: boolean; readonly failure?: Failure };

type Work = { readonly call: Call; readonly name: string; readonly members: Members; readonly merges: boolean };

class Update {
	readonly #store: Store;
	readonly #call: Call;
	readonly #name: string;
	readonly #members: Members;
	readonly #merges: boolean;
	#changed = false;

	constructor(store: Store, { call, name, members, merges }: Work) {
		this.#store = store;
		this.#call = call;
		this.#name = name;
		this.#members = members;
		this.#merges = merges;
	}

	oneByOne(text: string): Outcome {
		checkUnchangeable(this.#members, this.#call.release);
		try {
			this.#metadata(text);
			if (this.#renames()) {
				checkName(this.#members["name"], this.#name, this.#others(), this.#call.release);
				this.#rename();
			}
			if (Object.hasOwn(this.#members, "chunk_method")) checkMethod(this.#members["chunk_method"], this.#name);
			this.#parsing();
		} catch (error) {
			if (error instanceof Failure && this.#changed) return { changed: true, failure: error };
			throw error;
		}
		return { changed: this.#changed };
	}

	allChecked(text: string): Outcome {
		const { release } = this.#call;
		checkKinds(this.#members, text, release);
		checkUnchangeable(this.#members, release);
		if (this.#renames()) checkName(this.#members["name"], this.#name, this.#others(), release);
		try {
			this.#metadata(text);
		} catch (error) {
			if (error instanceof Failure && this.#changed) return { changed: true, failure: error };
			throw error;
		}
		if (this.#renames()) this.#rename();
		this.#parsing();
		return { changed: this.#changed };
	}

	/** Nothing to change is a success, so a misspelt member is one, too. */
	#metadata(text: string): void {
		if (!Object.hasOwn(this.#members, "meta_fields")) return;
		const { datasetId, documentId, release } = this.#call;
		const storing = metadataOf(text, this.#members["meta_fields"], release);
		const sent = "text" in storing ? storing.text : "{}";
		const merges = release.mayMerge && this.#merges && "text" in storing;
		const stored = merges ? mergedText(this.#store.documents.metadata(datasetId, documentId) ?? "{}", sent) : sent;
		if ("text" in storing || storing.fails === "lost")
			this.#changed = this.#store.documents.replaceMetadata(datasetId, documentId, stored);
		if ("fails" in storing) throw new Failure(Code.data, "Failed to update metadata");
	}

	#renames(): boolean {
		return Object.hasOwn(this.#members, "name") && this.#members["name"] !== this.#name;
	}

	#others(): readonly string[] {
		return this.#store.documents.namesLike(this.#call.datasetId, String(this.#members["name"]));
	}

	#rename(): void {
		this.#store.documents.rename(this.#call.documentId, String(this.#members["name"]));
	}

	/** How a document is to be taken apart: kept and shown, and nothing comes of it. */
	#parsing(): void {
		const { chunk_method: method, parser_config: config } = this.#members;
		if (typeof method === "string" && method !== "") this.#store.parsing.setMethod(this.#call.documentId, method);
		if (isObject(config)) this.#store.parsing.setConfig(this.#call.documentId, config);
	}
}

/** Only the owner's key updates: a member of the team is told that there is no such dataset of theirs. */
function ownedName(store: Store, { datasetId, documentId, owner, release }: Call): string {
	if (!owner || store.datasets.find(datasetId) === undefined)
		throw new Failure(Code.data, worded("You don't own the dataset.", release));
	const name = store.documents.datasetOf(documentId) === datasetId ? store.documents.nameOf(documentId) : undefined;
	if (name === undefined) throw new Failure(Code.data, worded("The dataset doesn't own the document.", release));
	return name;
}

function answerOf(store: Store, { datasetId, documentId, release }: Call): string {
	if (release.updateAnswer === "nothing") return success();
	const row = store.documents.row(documentId);
	// Removed by another request while this one was answered.
	if (row === undefined) throw new Failure(Code.data, "Dataset created failed");
	const parsing = store.parsing.of(documentId);
	return success(documentText(row, datasetId, { metadata: release.updateAnswer === "document", parsing }));
}
