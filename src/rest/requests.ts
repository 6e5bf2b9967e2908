import { type Answer, decoded, type ParsedEnvelope, type RawAnswer } from "./answer.ts";
import type { Call, Method } from "./attempt.ts";
import { classifyAnswer, errorOfRoute } from "./classify.ts";
import { type ErrorContext, type FlavourRequest, RestError } from "./errors.ts";
import type { Transport } from "./transport.ts";
import type { Dialect } from "./types.ts";
import { pathOf, segment } from "./url.ts";

/** 1 MiB: the largest accepted answer of a request that lists nothing. */
const ANSWER_BYTES = 1024 * 1024;

/** 64 MiB: a list has the metadata of a whole page. */
export const LIST_BYTES = 64 * ANSWER_BYTES;

export const JSON_TYPE = ["content-type", "application/json"];

/** The parts that the dialects of one service share. */
export type RequestedService = {
	readonly context: ErrorContext;
	readonly transport: Pick<Transport, "send">;
	readonly key: string;
	/** of every path */
	readonly prefix: string;
	/** whether it has accepted the key */
	isKeyAccepted: boolean;
};

type SendOptions = Partial<Pick<Call<unknown>, "body" | "headers" | "limit" | "isPatient" | "isProbe" | "sink">> & {
	/** the media type that is wanted; JSON unless given */
	readonly accept?: string;
};

type CallOptions = SendOptions & {
	/** the request, if other flavours send another */
	readonly only?: FlavourRequest;
};

/** Sends the requests of one dialect, and reads their answers. */
export class Requests {
	readonly dialect: Dialect;
	readonly prefix: string;
	readonly #service: RequestedService;

	constructor(dialect: Dialect, service: RequestedService) {
		this.dialect = dialect;
		this.prefix = service.prefix;
		this.#service = service;
	}

	/** @throws RestError `BAD_ID` (rejected; nothing was sent) */
	documentPath(datasetId: string, documentId: string): string {
		return pathOf(this.prefix, ["datasets", segment(datasetId), "documents", segment(documentId)]);
	}

	/** Sends one request, and reads its answer, success or not. */
	send<Result>(
		method: Method,
		path: string,
		read: (answer: RawAnswer) => Result,
		{ accept = "application/json", headers = [], ...more }: SendOptions,
	): Promise<Result> {
		const { key, transport } = this.#service;
		const always = [
			"authorization",
			`Bearer ${key}`,
			"accept",
			accept,
			"accept-encoding",
			"identity",
			"user-agent",
			"ragtag",
		];
		return transport.send({
			method,
			path,
			body: null,
			limit: ANSWER_BYTES,
			isPatient: false,
			isProbe: false,
			...more,
			headers: [...always, ...headers],
			read,
		});
	}

	/** Sends one request, and reads the envelope of its success. */
	call<Result>(
		method: Method,
		path: string,
		read: (envelope: ParsedEnvelope) => Result,
		{ only, ...more }: CallOptions,
	): Promise<Result> {
		return this.send(method, path, (answer) => read(this.success(decoded(answer), path, only)), more);
	}

	/** The envelope of a success. @throws RestError that any other answer means */
	success(answer: Answer, path: string, only?: FlavourRequest): ParsedEnvelope {
		const { context, isKeyAccepted } = this.#service;
		const { flavour } = this.dialect;
		const envelope = classifyAnswer(answer, { flavour, context, now: Date.now(), isKeyAccepted });
		if (envelope instanceof RestError) throw errorOfRoute(envelope, answer, path, only);
		this.#service.isKeyAccepted = true;
		return envelope;
	}
}
