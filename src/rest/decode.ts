import {
	DEEPEST_METADATA,
	isDeeperThan,
	isJsonArray,
	isJsonObject,
	type JsonObject,
	type JsonValue,
	metadataOf,
} from "../json/values.ts";
import { parseLoosely } from "../json/parse-json.ts";
import { JsonFault } from "../json/lexer.ts";
import { differsByCase } from "../text/names.ts";
import { show } from "../text/show.ts";
import type { ParsedEnvelope } from "./answer.ts";
import { type ErrorContext, rejected, RestError, safe } from "./errors.ts";
import { parsingOf } from "./parsing.ts";
import { inexactValues, withDigits } from "./inexact.ts";
import type { Dataset, Document, Echo, Page, StoredFile, UploadFile } from "./types.ts";

/** Reads the data of answers into types. Data of another shape is a `RestError`. */
export class Decoder {
	readonly #context: ErrorContext;

	constructor(context: ErrorContext) {
		this.#context = context;
	}

	datasets({ data, whole }: ParsedEnvelope): Page<Dataset> {
		const items = this.#array(data, "a list of datasets").map((item): Dataset => {
			const dataset = this.#object(item, "a dataset");
			return { ...this.#named(dataset, "a dataset"), documentCount: this.#count(dataset, "document_count") };
		});
		// Some releases give it beside the list.
		return { items, total: this.#count(whole, "total_datasets") };
	}

	documents({ data, text }: ParsedEnvelope, datasetId: string): Page<Document> {
		const list = this.#object(data, "a list of documents");
		const docs = this.#array(list["docs"], "a list of documents");
		const digits = memberOf(memberOf(this.#digits(text), "data"), "docs");
		const digitsAt = (at: number): JsonValue | undefined => (isJsonArray(digits) ? digits[at] : undefined);
		const items = docs.map((item, at) => this.#document(item, digitsAt(at), datasetId));
		return { items, total: this.#count(list, "total") };
	}

	created({ data }: ParsedEnvelope): { readonly id: string; readonly name: string } {
		return this.#named(this.#object(data, "the new dataset"), "the new dataset");
	}

	/** The one file of an upload, with all bytes that were sent. */
	stored({ data }: ParsedEnvelope, sent: UploadFile): StoredFile {
		const [file, ...others] = this.#array(data, "the stored file");
		if (others.length > 0) throw this.#misfit("one stored file: the service names several");
		const members = this.#object(file, "the stored file");
		const stored = { ...this.#named(members, "the stored file"), size: this.#count(members, "size") };
		if (stored.size === undefined || stored.size === sent.size) return stored;
		const sizes = `${stored.size} of the ${sent.size} bytes`;
		const message = `${this.#context.host} stored ${sizes} of ${show(sent.name)} as ${show(stored.id)}`;
		throw rejected("SIZE_MISMATCH", message);
	}

	/** How an answer names its document. An answer about another document belongs to another request, whatever its code says. */
	echo({ data }: ParsedEnvelope, documentId: string): Echo {
		if (data === undefined || data === null || data === true) return "nothing";
		if (!isJsonObject(data)) return "other";
		const { document_id, id } = data as { readonly [key: string]: JsonValue | undefined };
		for (const named of [document_id, id]) {
			if (named === undefined || named === null || named === documentId) continue;
			if (typeof named === "string" && differsByCase(named, documentId)) throw this.#otherCase(named, documentId);
			throw this.#otherId(named, documentId);
		}
		if (document_id === documentId) return "document_id";
		return id === documentId ? "id" : "nothing";
	}

	/** Checks the answer to a removal. A release that removes by body may name documents that it kept. */
	removed(envelope: ParsedEnvelope, ids: readonly string[], by: "path" | "body"): void {
		const [first = "", ...others] = ids;
		if (by === "path") return void this.echo(envelope, first);
		if (!isJsonObject(envelope.data)) return;
		const members = envelope.data as { readonly [key: string]: JsonValue | undefined };
		const { errors, deleted, success_count: count = deleted } = members;
		const refused = isJsonArray(errors) && errors.length > 0;
		if (!refused && count !== 0) return;
		const error = refused ? errors.find((each) => typeof each === "string") : undefined;
		const words = typeof error === "string" ? ` "${safe(error, this.#context)}"` : "";
		const more = others.length === 0 ? "" : ` and ${others.length} more`;
		const message = `${this.#context.host} answered code 0 and did not remove ${safe(first, this.#context)}${more}${words}`;
		throw rejected("NOT_REMOVED", message);
	}

	#document(item: JsonValue, digits: JsonValue | undefined, datasetId: string): Document {
		const document = this.#object(item, "a document");
		const owner = document["dataset_id"];
		if (typeof owner === "string" && differsByCase(owner, datasetId)) {
			const words = `${this.#context.host} lists documents of dataset ${safe(owner, this.#context)}`;
			const message = `${words}: ${safe(datasetId, this.#context)} is its id in another letter case; write it as the service does`;
			throw rejected("OTHER_CASE", message);
		}
		if (owner !== undefined && owner !== null && owner !== datasetId) throw this.#otherId(owner, datasetId);
		const created = document["create_time"];
		// Written out, as copying members takes several times as long, and lists are long.
		const { id, name } = this.#named(document, "a document");
		const size = this.#count(document, "size");
		const createTime = typeof created === "number" || typeof created === "string" ? created : undefined;
		const isDatasetNamed = owner === datasetId;
		const { metadata, inexact } = this.#metadata(document["meta_fields"], memberOf(digits, "meta_fields"));
		const parsing = parsingOf(document);
		return { id, name, datasetId, isDatasetNamed, size, createTime, metadata, inexact, parsing };
	}

	/** @param digits the same value, as `withDigits` gives it */
	#metadata(value: JsonValue | undefined, digits: JsonValue | undefined): Pick<Document, "metadata" | "inexact"> {
		if (value === undefined || value === null) return { metadata: undefined };
		// Some services keep it as JSON text. Other text is no metadata.
		const read = typeof value === "string" ? parseLoosely(value) : value;
		if (typeof value === "string" && !isJsonObject(read)) return { metadata: undefined };
		const fields = this.#object(read, "the meta_fields of a document");
		// Deeper metadata would overflow the stack when it is written out again.
		if (isDeeperThan(fields, DEEPEST_METADATA))
			throw this.#misfit("the meta_fields of a document: they are nested too deep");
		const inexact = inexactValues(fields, typeof value === "string" ? this.#digits(value) : digits);
		return { metadata: metadataOf(fields), inexact };
	}

	#digits(json: string): JsonValue | undefined {
		try {
			return withDigits(json);
		} catch (error) {
			if (error instanceof JsonFault) throw this.#misfit("a list of documents: it is nested too deep");
			throw error;
		}
	}

	#named(object: JsonObject, what: string): { readonly id: string; readonly name: string } {
		const { id, name } = object as { readonly [key: string]: JsonValue | undefined };
		if (typeof id !== "string" || id === "" || typeof name !== "string")
			throw this.#misfit(`the id and name of ${what}`);
		return { id, name };
	}

	#count(object: JsonObject, member: string): number | undefined {
		const value = object[member];
		if (value === undefined || value === null) return undefined;
		if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) throw this.#misfit(`the ${member}`);
		return value;
	}

	#object(value: JsonValue | undefined, what: string): JsonObject {
		if (!isJsonObject(value)) throw this.#misfit(what);
		return value;
	}

	#array(value: JsonValue | undefined, what: string): readonly JsonValue[] {
		if (!isJsonArray(value)) throw this.#misfit(what);
		return value;
	}

	#misfit(what: string): RestError {
		const message = `${this.#context.host} answered with data that can't be read as ${what}`;
		return new RestError(message, { kind: "ambiguous", code: "BAD_DATA" });
	}

	/** The service may compare ids without letter case, or this may be the answer to another request. */
	#otherCase(found: string, asked: string): RestError {
		const [other, id] = [safe(found, this.#context), safe(asked, this.#context)];
		const message = `${this.#context.host} answered about document ${other}, which is ${id} in another letter case`;
		return new RestError(message, { kind: "ambiguous", code: "OTHER_CASE" });
	}

	#otherId(found: JsonValue, asked: string): RestError {
		const other = typeof found === "string" ? safe(found, this.#context) : "something else";
		const message = `${this.#context.host} answered about ${other}, not about ${safe(asked, this.#context)}`;
		return new RestError(message, { kind: "ambiguous", code: "ECHO_MISMATCH" });
	}
}

function memberOf(value: JsonValue | undefined, name: string): JsonValue | undefined {
	return isJsonObject(value) ? value[name] : undefined;
}
