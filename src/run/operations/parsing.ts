import { RestError } from "../../rest/errors.ts";
import { ParsingStates } from "../documents/parsing-states.ts";
import { RetryLater } from "../retry/retry.ts";
import type { Service } from "../service/service.ts";
import type { Request, Work } from "../types.ts";
import { grouped, type Memory, type OpenWork, type Operation, type Settled } from "./operation.ts";
import { PARSE_CODES, parseGroup, type ParseOptions } from "./parse.ts";

/** Parses the documents of rows that were written before: `--parse` of other commands than `docs parse`. */
export class Parsing {
	/** whether a row ends only when its document is done */
	readonly waits: boolean;
	readonly #service: Pick<Service, "noteOnce">;
	readonly #states: ParsingStates;
	readonly #group: ReturnType<typeof parseGroup>;
	/** whether any parsing was started: the journal records none */
	hasStarted = false;

	constructor(service: Service, options: Pick<ParseOptions, "waits" | "stallTime" | "live">) {
		this.waits = options.waits;
		this.#service = service;
		this.#states = new ParsingStates(service.clock);
		const onStart = (): void => void (this.hasStarted = true);
		this.#group = parseGroup(service, this.#states, { ...options, onlyFailed: false, again: false, onStart });
	}

	/**
	 * Parses one document unless it is done. Resolves when it is at work, or where rows wait, when it is done.
	 *
	 * @returns whether it was at work
	 * @throws RestError where it failed, RetryLater until then
	 */
	document(item: Work, request: Request, memory: Memory): Promise<boolean> {
		const row = { item, memory: (memory.parse ??= {}) };
		return this.#wasAtWork(this.#group.begin([row], request)(row));
	}

	async #wasAtWork(parsed: Promise<Settled>): Promise<boolean> {
		try {
			return (await parsed).status === "parsed";
		} catch (error) {
			if (!(error instanceof RestError) || error.code !== "DISABLED") throw error;
			// Questions find no such document, so nothing is missed.
			const text =
				"Documents that are disabled are not parsed, as that would never end: enable them, then: docs parse.";
			this.#service.noteOnce("DISABLED_UNPARSED", text);
			return false;
		}
	}

	/**
	 * The operation, and after it the parsing of the row's document. A retry of the parsing repeats nothing before it.
	 *
	 * @param isParsed whether the document of a row is parsed
	 */
	after<Item extends Work>(
		operation: Operation<Item>,
		isParsed: (item: Item) => boolean = () => true,
	): Operation<Item> {
		const parsed = grouped<Item>({
			most: this.#group.most ?? 1,
			begin: (rows, request) => {
				const stored = new Map(rows.map((row) => [row, storedOf(row)]));
				const end = this.#group.begin([...stored.values()], request);
				return async (row) => {
					const wasAtWork = await this.#wasAtWork(end(stored.get(row) ?? storedOf(row)));
					const settled = settledOf(row);
					return wasAtWork && settled.status === "unchanged" ? { ...settled, status: "parsed" } : settled;
				};
			},
		});
		const both: Operation<Item> = async (item, request, memory) => {
			if (memory.settled !== undefined) return parsed(item, request, memory);
			const settled = await operation(item, request, memory);
			if (!isParsed(item) || memory.replacing?.isParsed === true) return settled;
			memory.settled = settled;
			const { status, documentId, storedName: name = "" } = settled;
			// What this attempt has stored is not at work. Anything else may be.
			const isNew = memory.isLogged === true && memory.maybeStored === undefined;
			if (isNew && status === "uploaded") this.#states.stored({ ...item, documentId }, name);
			// It is parsed with others.
			throw new RetryLater(0);
		};
		const groupOf = (row: OpenWork<Item>): ReturnType<typeof parsed.groupOf> => {
			const { settled, parse } = row.memory;
			if (settled === undefined) return operation.groupOf?.(row);
			return parse !== undefined && this.#group.isFollowed(parse) ? undefined : parsed.groupOf(row);
		};
		return Object.assign(both, operation, {
			expected: new Set([...(operation.expected ?? []), ...PARSE_CODES]),
			groupOf,
		});
	}
}

/** The document of a row that was written, and the memory of its parsing. */
function storedOf<Item extends Work>(row: OpenWork<Item>): OpenWork {
	const { documentId } = settledOf(row);
	return { item: { ...row.item, documentId }, memory: (row.memory.parse ??= {}) };
}

function settledOf<Item extends Work>({ item, memory }: OpenWork<Item>): Settled {
	if (memory.settled === undefined) throw new Error(`the row of line ${item.line} was not written`);
	return memory.settled;
}
