import { RestError } from "../../rest/errors.ts";
import { ParsingStates } from "../documents/parsing-states.ts";
import type { Service } from "../service/service.ts";
import type { Request, Work } from "../types.ts";
import type { Memory, Operation } from "./operation.ts";
import { parseDocument, type ParseOptions } from "./parse.ts";

/** Parses the documents of rows that were written before: `--parse` of other commands than `docs parse`. */
export class Parsing {
	/** whether a row ends only when its document is done */
	readonly waits: boolean;
	readonly #service: Pick<Service, "noteOnce">;
	readonly #states: ParsingStates;
	readonly #parse: Operation<Work>;
	#hasStarted = false;

	constructor(service: Service, options: Pick<ParseOptions, "waits" | "stallTime" | "live">) {
		this.waits = options.waits;
		this.#service = service;
		this.#states = new ParsingStates(service.clock);
		const onStart = (): void => void (this.#hasStarted = true);
		this.#parse = parseDocument(service, this.#states, { ...options, onlyFailed: false, again: false, onStart });
	}

	/** Whether any parsing was started: the journal records none. */
	get hasStarted(): boolean {
		return this.#hasStarted;
	}

	/**
	 * Parses one document unless it is done. Resolves when it is at work, or where rows wait, when it is done.
	 *
	 * @returns whether it was at work
	 * @throws RestError where it failed, RetryLater and RetryTogether until then
	 */
	async document(item: Work, request: Request, memory: Memory): Promise<boolean> {
		memory.parse ??= {};
		try {
			return (await this.#parse(item, request, memory.parse)).status === "parsed";
		} catch (error) {
			if (!(error instanceof RestError) || error.code !== "DISABLED") throw error;
			// Questions find no such document, so nothing is missed.
			const text =
				"Documents that are disabled are not parsed, as that would never end: enable them, then: docs parse.";
			this.#service.noteOnce("DISABLED_UNPARSED", text);
			return false;
		}
	}

	/** The operation, and after it the parsing of the row's document. A retry of the parsing repeats nothing before it. */
	after<Item extends Work>(operation: Operation<Item>): Operation<Item> {
		const both: Operation<Item> = async (item, request, memory) => {
			const isFirst = memory.settled === undefined;
			const settled = (memory.settled ??= await operation(item, request, memory));
			const { status, documentId, storedName: name = "" } = settled;
			if (memory.replacing?.isParsed === true) return settled;
			const which = { ...item, documentId };
			// What this attempt has stored is not at work. Anything else may be.
			const isNew = memory.isLogged === true && memory.maybeStored === undefined;
			if (isFirst && isNew && status === "uploaded") this.#states.stored(which, name);
			const isParsed = await this.document(which, request, memory);
			return isParsed && status === "unchanged" ? { ...settled, status: "parsed" } : settled;
		};
		return Object.assign(both, operation, { expected: this.#parse.expected ?? new Set<string>() });
	}
}
