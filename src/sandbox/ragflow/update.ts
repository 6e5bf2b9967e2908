import type { Release } from "../flavours/release.ts";
import { isObject, mergedText } from "../json-text.ts";
import type { Store } from "../store/index.ts";
import { documentText } from "./document.ts";
import { textColumn } from "../store/database.ts";
import type { ParsingState } from "../store/parsing-states.ts";
import { Code, exception, Failure, success, worded } from "./failure.ts";
import { checkMetadata, type StoredMetadata, storedMetadata, unfit } from "./metadata.ts";
import { checkName } from "./names.ts";
import { type Call, fieldText, type Members, readJson, type Route } from "./request.ts";

/**
 * PUT or PATCH /datasets/<dataset_id>/documents/<document_id>
 *
 * Up to v0.24 each member is checked and applied in turn (`update_doc` in api/apps/sdk/doc.py). Later releases check
 * all members first (`update_document` in api/apps/restful_apis/document_api.py).
 */
export const updateDocument: Route = async (call, { store, onUpdate, searchesFail, updatesFail }) => {
	const { text, value } = await readJson(call.request, call.release);
	const outcome = await store.commits.write((): Outcome => {
		const document = ownedDocument(store, call);
		// The engine can't be asked for the present metadata, so they are inserted, and that fails. Nothing was removed before
		// (`update_document_metadata` in api/db/services/doc_metadata_service.py, v0.24 to v0.27). v1.0 is to remove them first,
		// and asks whether there is an index (`DeleteMetadata` in internal/engine/elasticsearch/metadata.go:265).
		if (updatesFail && call.release.metadataIn === "engine" && isObject(value) && Object.hasOwn(value, "meta_fields"))
			throw new Failure(Code.data, call.release.reads === "as-go" ? NOT_REMOVED : NOT_UPDATED);
		if (!isObject(value)) throw exception("TypeError(\"argument of type 'NoneType' is not iterable\")");
		const update = new Update(store, call, { ...document, body: text, members: value });
		return call.release.values === "any" ? update.applyInTurn() : update.checkThenApply();
	});
	if (outcome.changed) onUpdate();
	if (outcome.failure !== undefined) throw outcome.failure;
	if (call.release.enabled === "without-document" && isObject(value) && Object.hasOwn(value, "enabled"))
		return success("true");
	return updateAnswer(store, call, searchesFail);
};

const NOT_UPDATED = "Failed to update metadata";
const NOT_REMOVED = "failed to delete document metadata: failed to check index existence: connect: connection refused";

/** Only the owner's key may update. A member of the team gets the answer for a missing dataset. */
function ownedDocument(store: Store, { datasetId, documentId, isOwner, release }: Call): OwnedDocument {
	const dataset = store.datasets.find(datasetId);
	if (!isOwner || dataset === undefined) throw new Failure(Code.data, worded("You don't own the dataset.", release));
	const name = store.documents.datasetOf(documentId) === datasetId ? store.documents.nameOf(documentId) : undefined;
	if (name === undefined) throw new Failure(Code.data, worded("The dataset doesn't own the document.", release));
	return { dataset: dataset.seq, name };
}

function updateAnswer(store: Store, { datasetId, documentId, release }: Call, searchesFail: boolean): string {
	if (release.updateAnswer === "nothing") return success();
	const row = store.documents.row(documentId);
	// Another request has removed it meanwhile.
	if (row === undefined) throw new Failure(Code.data, "Dataset created failed");
	const [parser, state] = [store.parserSettings.of(documentId), store.parsingStates.of(documentId)];
	const found = textColumn(row, "meta_fields");
	const isShown =
		release.updateAnswer === "document" ||
		(release.updateAnswer === "document-read-back" && found !== "{}" && !searchesFail);
	const parserMembers = [release.parserMember];
	const text = documentText(row, datasetId, { metadata: isShown ? found : undefined, parser, state, parserMembers });
	return success(text, release.noMessage);
}

/** A failure that occurred after a change is returned: an error that is thrown must not have written. */
type Outcome = { readonly changed: boolean; readonly failure?: Failure };

type OwnedDocument = { readonly dataset: number; readonly name: string };

/** `body` is the JSON text whose parsed members are `members`. */
type UpdateInput = OwnedDocument & { readonly body: string; readonly members: Members };

class Update {
	readonly #store: Store;
	readonly #call: Call;
	readonly #input: UpdateInput;
	#changed = false;

	constructor(store: Store, call: Call, input: UpdateInput) {
		this.#store = store;
		this.#call = call;
		this.#input = input;
	}

	applyInTurn(): Outcome {
		const { members } = this.#input;
		checkCounters(members, this.#state, this.#call.release);
		return this.#outcomeOf(() => {
			this.#storeMetadata();
			this.#rename(this.#checkedName());
			if (Object.hasOwn(members, "chunk_method")) checkMethod(members["chunk_method"], this.#input.name);
			this.#storeParserSettings();
			if (this.#call.release.enabled !== "ignored") this.#enable();
		});
	}

	checkThenApply(): Outcome {
		const { body, members } = this.#input;
		checkTypes(members, body, this.#call.release);
		checkCounters(members, this.#state, this.#call.release);
		const name = this.#checkedName();
		return this.#outcomeOf(() => {
			this.#storeMetadata();
			this.#rename(name);
			this.#storeParserSettings();
			this.#enable();
		});
	}

	get #state(): ParsingState {
		return this.#store.parsingStates.of(this.#call.documentId);
	}

	#outcomeOf(apply: () => void): Outcome {
		try {
			apply();
		} catch (error) {
			if (error instanceof Failure && this.#changed) return { changed: true, failure: error };
			throw error;
		}
		return { changed: this.#changed };
	}

	/** An update without changes succeeds, so an update with a misspelt member does, too. */
	#storeMetadata(): void {
		const { body, members } = this.#input;
		if (!Object.hasOwn(members, "meta_fields")) return;
		const { datasetId, documentId, sentDocumentId, release } = this.#call;
		const { documents } = this.#store;
		if (release.metadataId === "as-sent" && sentDocumentId !== documentId) return;
		const outcome = this.#indexed(storedMetadata(body, members["meta_fields"], release));
		if ("text" in outcome) {
			this.#changed = documents.replaceMetadata(datasetId, documentId, outcome.text, true);
			return;
		}
		if (outcome.fails === "lost") this.#changed = documents.replaceMetadata(datasetId, documentId, "{}", true);
		if (release.unfitValues === "accepted-and-lost") return;
		throw new Failure(Code.data, NOT_UPDATED);
	}

	/** What the release stores in place of the present metadata. Its search engine learns the types of new keys. */
	#indexed(sent: StoredMetadata): StoredMetadata {
		const { datasetId, documentId, release } = this.#call;
		if (!("text" in sent) || release.unfitValues === "stored") return sent;
		const { documents, searchEngine } = this.#store;
		const text = release.merges ? mergedText(documents.metadata(datasetId, documentId) ?? "{}", sent.text) : sent.text;
		return searchEngine.index(text) ? { text } : unfit(release);
	}

	/** The new name, checked; `undefined` where the name does not change. */
	#checkedName(): string | undefined {
		const { name } = this.#input.members;
		if (!Object.hasOwn(this.#input.members, "name") || name === this.#input.name) return undefined;
		const equalNames = this.#store.documents.equalNames(this.#input.dataset, String(name));
		checkName(name, this.#input.name, equalNames, this.#call.release);
		return name;
	}

	#rename(name: string | undefined): void {
		if (name !== undefined) this.#store.documents.rename(this.#call.documentId, name);
	}

	#storeParserSettings(): void {
		const { chunk_method: method, parser_config: config } = this.#input.members;
		const { parserSettings, parsingStates } = this.#store;
		const { documentId, release } = this.#call;
		if (typeof method === "string" && method !== "") {
			if (method !== parserSettings.of(documentId).method) parsingStates.reset(documentId);
			else if (release.sameMethod === "drops-chunks") parsingStates.dropChunks(documentId);
			parserSettings.setMethod(documentId, method);
		}
		if (isObject(config)) parserSettings.setConfig(documentId, config);
	}

	#enable(): void {
		const { enabled = null } = this.#input.members;
		if (enabled !== null) this.#store.parsingStates.setEnabled(this.#call.documentId, Boolean(enabled));
	}
}

const methods: ReadonlySet<string> = new Set(
	"naive manual qa table paper book laws presentation picture one knowledge_graph email tag".split(" "),
);

/** Counters that only the server changes. */
function checkCounters(members: Members, state: ParsingState, release: Release): void {
	const { chunkCount, tokenCount, progress } = state;
	for (const [name, present] of Object.entries({ chunk_count: chunkCount, token_count: tokenCount, progress })) {
		const value = Object.hasOwn(members, name) ? members[name] : present;
		// PATCH releases read null as absent.
		if (value === present || (value === null && release.values !== "any")) continue;
		throw new Failure(Code.data, worded(`Can't change \`${name}\`.`, release));
	}
}

function checkMethod(value: unknown, name: string): void {
	if (typeof value !== "string" || !methods.has(value))
		throw new Failure(Code.data, `\`chunk_method\` ${String(value)} doesn't exist`);
	if (/\.(ppt|pptx|pages)$/.test(name)) throw new Failure(Code.data, "Not supported yet!");
}

/** The checks of every member by PATCH releases before they read the document: `UpdateDocumentReq`. */
function checkTypes(members: Members, body: string, release: Release): void {
	const { name = null, chunk_method: method = null } = members;
	const nullNameIsRefused = release.lowerCaseMessages !== "none" && Object.hasOwn(members, "name");
	if (name === null ? nullNameIsRefused : typeof name !== "string") throw typeFailure("name", notText, name);
	if (method !== null && typeof method !== "string") throw typeFailure("chunk_method", notText, method);
	if (release.reads === "as-go" && Object.hasOwn(members, "chunk_method") && (method === null || method === ""))
		throw new Failure(Code.data, "`chunk_method` (empty string) is not valid");
	if (method !== null && method !== "" && !methods.has(method))
		throw typeFailure("chunk_method", `\`chunk_method\` ${method} doesn't exist`, method);
	if (Object.hasOwn(members, "meta_fields")) checkMetadata(body, members["meta_fields"], release);
}

const notText = "Input should be a valid string";

function typeFailure(name: string, why: string, value: unknown): Failure {
	return new Failure(Code.data, fieldText(name, why, value));
}
