import { isJsonObject, type Metadata } from "../json/values.ts";
import type { RawAnswer, ParsedEnvelope } from "./answer.ts";
import { updateBody } from "./bodies.ts";
import { metadataLost } from "./errors.ts";
import type { Transport } from "./transport.ts";
import type { Api, Dialect, Echo } from "./types.ts";
import type { DocumentPaths } from "./url.ts";

type UpdatesOptions = {
	readonly dialect: Dialect;
	readonly paths: DocumentPaths;
	/** of every request, names and values in turn */
	readonly headers: readonly string[];
	readonly boundary: (payload: string) => string;
	/** the largest accepted answer, in bytes */
	readonly limit: number;
	readonly transport: Pick<Transport, "send">;
	/** the envelope of a success; throws the error that any other answer means */
	readonly success: (answer: RawAnswer, path: string) => ParsedEnvelope;
	/** how an envelope names its document; throws where it names another */
	readonly echo: (envelope: ParsedEnvelope, documentId: string) => Echo;
};

type Update = { readonly documentId: string; readonly metadata: Metadata };

/** 256 bytes: a success that names no document is a few dozen. */
const REMEMBERED_BYTES = 256;

/** The updates in one dialect: nearly every request of a run. What two rows have in common is made once. */
export class Updates {
	readonly #options: UpdatesOptions;
	#type: string | undefined;
	#headers: string[] = [];
	/** whether an answer has shown the metadata of its document; not every release does */
	#hasShown = false;
	/** a success that has no object as its data, so that it says the same of every document */
	#known: { readonly status: number; readonly bytes: Buffer; readonly echo: Echo } | undefined;

	constructor(options: UpdatesOptions) {
		this.#options = options;
	}

	/** Rejects with the RestError `BAD_ID` (rejected; nothing was sent) for a text that is no id. */
	readonly send: Api["updateMetadata"] = (datasetId, documentId, metadata, signal) => {
		const { dialect, paths, boundary, limit, transport } = this.#options;
		try {
			const path = paths.of(datasetId, documentId);
			const { type, body } = updateBody(dialect.form, metadata, boundary);
			return transport.send({
				method: dialect.flavour.update.verb,
				path,
				headers: this.#headersOf(type),
				body,
				limit,
				isPatient: false,
				isProbe: false,
				signal,
				read: (answer) => this.#read(answer, path, { documentId, metadata }),
			});
		} catch (error) {
			return Promise.reject(error);
		}
	};

	#headersOf(type: string): string[] {
		if (type !== this.#type) {
			this.#headers = [...this.#options.headers, "content-type", type];
			this.#type = type;
		}
		return this.#headers;
	}

	#read(answer: RawAnswer, path: string, { documentId, metadata }: Update): Echo {
		const known = this.#known;
		// The same bytes with the same status are the same success.
		if (known !== undefined && answer.status === known.status && answer.bytes.equals(known.bytes)) return known.echo;
		const envelope = this.#options.success(answer, path);
		const echo = this.#echoOf(envelope, { documentId, metadata });
		const { data = null } = envelope;
		const namesNothing = typeof data !== "object" || data === null;
		if (namesNothing && answer.bytes.length <= REMEMBERED_BYTES) {
			// A copy, because the answer is a part of a large buffer.
			this.#known = { status: answer.status, bytes: Buffer.from(answer.bytes), echo };
		}
		return echo;
	}

	/**
	 * RAGFlow shows the metadata of the document up to v0.23, and from v1.0 on where there is any.
	 *
	 * @throws RestError where earlier answers showed it, and this one shows that none was kept
	 */
	#echoOf(envelope: ParsedEnvelope, { documentId, metadata }: Update): Echo {
		const echo = this.#options.echo(envelope, documentId);
		if (echo !== "id") return echo;
		const { data } = envelope;
		if (isJsonObject(data) && isJsonObject(data["meta_fields"])) {
			this.#hasShown = true;
			return "id_and_metadata";
		}
		if (this.#options.dialect.flavour.showsMetadata !== true || !this.#hasShown) return echo;
		if (metadata.size > 0) throw metadataLost({ documentId });
		return "id_and_metadata";
	}
}
