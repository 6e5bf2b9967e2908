import { type Answer, decoded, type ParsedEnvelope } from "./answer.ts";
import type { Call, Method } from "./attempt.ts";
import type { BoundarySource } from "./bodies.ts";
import { classifyAnswer, errorOfRoute } from "./classify.ts";
import type { Decoder } from "./decode.ts";
import { type ErrorContext, type FlavourRequest, RestError } from "./errors.ts";
import type { Transport } from "./transport.ts";
import type { Dialect } from "./types.ts";
import { pathOf, segment } from "./url.ts";

export const JSON_TYPE = ["content-type", "application/json"];

/** The parts that the dialects of one service share. */
export type SharedParts = {
	readonly context: ErrorContext;
	readonly transport: Pick<Transport, "send">;
	readonly decode: Decoder;
	readonly boundary: BoundarySource;
	/** called after each piece of a file that went out or came in */
	readonly onBytes: ((bytes: number) => void) | undefined;
	/** of every path */
	readonly prefix: string;
	/** whether it has accepted the key */
	isKeyAccepted: boolean;
};

type CallOptions = Pick<Call<unknown>, "body" | "headers" | "limit" | "isPatient" | "isProbe"> & {
	/** the request, if other flavours send another */
	readonly only?: FlavourRequest;
};

/** What the requests of one dialect share: paths, and how a success differs from any other answer. */
export class Requests {
	readonly dialect: Dialect;
	readonly shared: SharedParts;

	constructor(dialect: Dialect, shared: SharedParts) {
		this.dialect = dialect;
		this.shared = shared;
	}

	/** @throws RestError `BAD_ID` (rejected; nothing was sent) */
	documentPath(datasetId: string, documentId: string): string {
		return pathOf(this.shared.prefix, ["datasets", segment(datasetId), "documents", segment(documentId)]);
	}

	/** Sends one request, and reads the envelope of its success. */
	call<Result>(
		method: Method,
		path: string,
		read: (envelope: ParsedEnvelope) => Result,
		{ only, ...more }: CallOptions,
	): Promise<Result> {
		return this.shared.transport.send({
			...more,
			method,
			path,
			read: (answer) => read(this.success(decoded(answer), path, only)),
		});
	}

	/** The envelope of a success. @throws RestError that any other answer means */
	success(answer: Answer, path: string, only?: FlavourRequest): ParsedEnvelope {
		const { context, isKeyAccepted } = this.shared;
		const { flavour } = this.dialect;
		const envelope = classifyAnswer(answer, { flavour, context, now: Date.now(), isKeyAccepted });
		if (envelope instanceof RestError) throw errorOfRoute(envelope, answer, path, only);
		this.shared.isKeyAccepted = true;
		return envelope;
	}
}
